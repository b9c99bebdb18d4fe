"""Expressions of computed columns: parsed and typed once, evaluated for rows."""
