"""See one token being made: the decode step of the chosen model as a drawing."""

from tokenviz import ui, ui_pipeline

ui.ensure()
ui_pipeline.page(ui.chosen())
