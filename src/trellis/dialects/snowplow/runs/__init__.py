"""Run folders: files of shredded events, and what tells a loader that they are complete."""
