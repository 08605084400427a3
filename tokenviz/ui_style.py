"""The look of the frame: icon, spacing, focus rings, the model line above every page."""

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#E69F00"/>'
    '<path d="M5 12h6v8H5z" fill="#77AADD"/><path d="M13 12h6v8h-6z" fill="#BBCC33"/>'
    '<path d="M21 12h6v8h-6z" fill="#FFAABB"/></svg>'
)
STYLE = """<style>
[data-testid="stMainBlockContainer"] { padding-top: 4.5rem; padding-bottom: 2rem; max-width: 1600px; }
[data-testid="stSidebarUserContent"] { padding-bottom: 1rem; }
[class*="st-key-canvas-loader"] { position: absolute; height: 0; overflow: hidden; }
.st-key-config_in_link, [data-testid="stLayoutWrapper"]:has(> .st-key-config_in_link) { display: none; }
[class*="st-key-pick_"] button, [class*="st-key-pick_"] button > * { justify-content: flex-start; text-align: left; }
[data-testid="stHeading"] h1 { padding-top: 0.25rem; }
:is(a, button, summary, input[role="combobox"], input[type="checkbox"], input[type="radio"]):focus-visible {
  outline: 2px solid #2684FF !important; outline-offset: 2px; border-radius: 4px;
}
label:has(input:is([type="checkbox"], [type="radio"]):focus-visible) { outline: 2px solid #2684FF; border-radius: 4px; }
table { font-variant-numeric: tabular-nums; }
.tv-model { font-size: 0.875rem; overflow-wrap: anywhere; }
.tv-model summary { cursor: pointer; opacity: 0.85; }
.tv-facts { display: flex; flex-wrap: wrap; gap: 0.5rem 2.5rem; padding: 0.5rem 0 0.75rem; }
.tv-facts section { flex: 2 1 18rem; min-width: 0; }
.tv-facts section:first-child { flex-grow: 3; flex-basis: 34rem; }
.tv-facts h6 { margin: 0 0 0.25rem; padding: 0; font-size: 0.875rem; }
.tv-facts table { border-collapse: collapse; }
.tv-facts th, .tv-facts td { text-align: left; vertical-align: top; padding: 0.15rem 0.75rem 0.15rem 0; border: 0; }
.tv-facts th { font-weight: 600; }
.tv-facts td:nth-child(2) { text-align: right; white-space: nowrap; }
.tv-facts ol { margin: 0; padding-left: 1.25rem; }
.tv-rows { border-collapse: collapse; width: 100%; margin: 0.25rem 0 0.5rem; font-size: 0.92rem; }
.tv-rows th, .tv-rows td { text-align: left; vertical-align: top; padding: 0.4rem 1.25rem 0.4rem 0; border: 0;
  border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
.tv-rows th { font-weight: 400; opacity: 0.75; }
.tv-rows .number { text-align: right; white-space: nowrap; }
.tv-rows :is(th, td):last-child { padding-right: 0; }
@media (max-width: 640px) {
  .st-key-section [role="tablist"] { flex-wrap: wrap; row-gap: 0; overflow: visible; }
  .st-key-section [role="tab"] { height: 2.25rem; }
  .tv-rows thead { display: none; }
  .tv-rows tr { display: block; padding: 0.45rem 0; line-height: 1.6;
    border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
  .tv-rows td { display: inline-block; margin-right: 1.1rem; padding: 0; border: 0; }
  .tv-rows td:empty:not(.name) { display: none; }
  .tv-rows td:not(.name)::before { content: attr(data-name) " "; opacity: 0.75; }
  .tv-rows .name { display: inline; margin-right: 0.5rem; font-weight: 600; }
  .tv-rows .name:not(:has(+ .name)) { margin-right: 0; }
  .tv-rows .name:not(:has(+ .name))::after { content: "\\A"; white-space: pre; }
  [data-testid="stMainBlockContainer"] { padding-left: 0.75rem; padding-right: 0.75rem; }
  .tv-facts tr { display: grid; grid-template-columns: 1fr auto; padding: 0.25rem 0; }
  .tv-facts td:nth-child(2) { padding-right: 0; }
  .tv-facts td:nth-child(3) { grid-column: 1 / -1; opacity: 0.8; }
}
</style>"""

# The dark theme's primary colour is light: near-black on it has 10:1, the usual white would have 2:1.
DARK_STYLE = """<style>
[data-testid="stBaseButton-primary"], [data-testid="stBaseButton-primaryFormSubmit"] { color: #0B0E12; }
:is([data-testid="stBaseButton-primary"], [data-testid="stBaseButton-primaryFormSubmit"]):hover { color: #0B0E12; }
</style>"""
