"""Tests that drive the running app in a real Chromium."""
