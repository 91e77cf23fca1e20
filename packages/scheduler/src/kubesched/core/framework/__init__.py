"""The contract between plugins and the scheduler, and its implementation.

From plugin classes and a resolved configuration to compiled profiles and questions. No scheduling decision, no I/O, and
no knowledge of a particular plugin. Plugin authors start with `plugin`.

| room | contents |
|---|---|
| `values` | statuses, events, effects: values that hooks and the scheduler exchange |
| `views` | nodes, pods and columns of values, as plugins read them |
| `results` | results of extension points that are more than a status |
| `observing` | observers, and the details of decisions |
| `services` | services that constructors request by parameter name |
| `calling` | calls of hooks, with checks of their answers |
| `building` | from plugin classes and a configuration to profiles |
| `columns` | questions, which keep answers up to date for the evaluator, and worlds |
"""
