"""Authorization: always-allowed paths, the group system:masters, and SubjectAccessReviews for everything else.

From a user, a verb and a path to a decision. Decisions are cached for a while.
"""

# upstream: apiserver/pkg/server/options/authorization.go, authorization/path/path.go,
# plugin/pkg/authorizer/webhook/webhook.go (v1.36)

import time

import msgspec

from kubesched.common.notes import Clock, Note
from kubesched.serving.auth.answer_cache import AnswerCache
from kubesched.serving.auth.reviews import ApiClient, ReviewDecision, ReviewError, access_question, review_access
from kubesched.serving.options import ServingOptions
from kubesched.serving.requests import UserInfo

MASTERS = "system:masters"
MOST_VERDICTS = 8192
# the most characters of a verb and path whose decision is cached; longer ones would fill the memory
LONGEST_REMEMBERED = 10_000

_ALLOWED = ReviewDecision(allowed=True)
_NO_OPINION = ReviewDecision()


class Authorization:
    """Decides whether a user may read a page; without a client only system:masters and always-allowed paths pass."""

    def __init__(
        self, options: ServingOptions, client: ApiClient | None, note: Note, clock: Clock = time.monotonic
    ) -> None:
        self._client = client
        paths = [path.removeprefix("/") for path in options.authorization_always_allow_paths]
        self._paths = frozenset(path for path in paths if not path.endswith("*"))
        self._prefixes = tuple(path[:-1] for path in paths if path.endswith("*"))
        yes = options.authorization_webhook_cache_authorized_ttl
        no = options.authorization_webhook_cache_unauthorized_ttl
        self._verdicts = AnswerCache[ReviewDecision](
            MOST_VERDICTS, lambda verdict: yes if verdict.allowed else no, clock
        )
        if client is None:
            note("No authorization-kubeconfig provided, so SubjectAccessReview of authorization tokens won't work.")

    async def authorize(self, user: UserInfo, verb: str, path: str) -> ReviewDecision:
        """Return whether a user may use a verb on a path; raises KubeschedError if the review fails."""
        if MASTERS in user.groups or self._is_open(path):
            return _ALLOWED
        if self._client is None:
            return _NO_OPINION
        verdict = await self._review(self._client, user, verb, path)
        if verdict.allowed and verdict.denied:
            raise ReviewError("webhook subject access review returned both allow and deny response")
        return verdict

    async def close(self) -> None:
        """Close the connections to the API server."""
        if self._client is not None:
            await self._client.close()

    def _is_open(self, path: str) -> bool:
        path = path.removeprefix("/")
        return path in self._paths or path.startswith(self._prefixes)

    async def _review(self, client: ApiClient, user: UserInfo, verb: str, path: str) -> ReviewDecision:
        spec = access_question(user, verb, path)
        if len(verb) + len(path) >= LONGEST_REMEMBERED:
            return await review_access(client, spec)
        return await self._verdicts.get(msgspec.json.encode(spec, order="sorted"), lambda: review_access(client, spec))
