"""The schema document: fields, reading, writing, rules, comparison."""
