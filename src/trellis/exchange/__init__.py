"""Schemas in the forms of other programs, and what each form does not say."""
