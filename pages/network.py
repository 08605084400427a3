"""Walk a real decoder's prediction, value by value."""

from tokenviz import ui, ui_network

ui.ensure()
ui_network.page()
