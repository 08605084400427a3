"""Where the work goes, and how much of it can run at once."""

from tokenviz import ui, ui_statistics

ui.ensure()
ui_statistics.page(ui.chosen())
