"""From answers to reports: blocks of text and tables, and their forms for terminals, tickets and notebooks."""
