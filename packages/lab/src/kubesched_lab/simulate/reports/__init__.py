"""From figures to reports: tables, JSON, CSV, pictures, a page."""
