"""In: what happens in a running scheduler, and questions about it over HTTPS. Out: metrics, health, configuration.
Never: a change of what the scheduler does, or an answer to somebody who may not know.
The pages under which an operator watches a scheduler.
"""
