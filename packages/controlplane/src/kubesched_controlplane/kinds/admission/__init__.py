"""The kinds that configure admission: policies, their bindings, webhook configurations."""
