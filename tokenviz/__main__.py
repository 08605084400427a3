"""``python -m tokenviz`` is the command line."""

from tokenviz.cli import main

raise SystemExit(main())
