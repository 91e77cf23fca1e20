"""What the API server is asked, how often, and what becomes of its answers; in virtual time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from multidict import CIMultiDict, CIMultiDictProxy
from tests.support.serving import FakeApi, RefusedError

from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.errors import KubeschedError
from kubesched.serving.auth.answer_cache import AnswerCache
from kubesched.serving.auth.authentication import ANONYMOUS, Authentication, UnauthenticatedError, bearer_token
from kubesched.serving.auth.authorization import LONGEST_REMEMBERED, Authorization
from kubesched.serving.auth.reviews import ACCESS_REVIEWS, TOKEN_REVIEWS
from kubesched.serving.options import ServingOptions
from kubesched.serving.requests import UserInfo

ANNA = UserInfo("anna", ("system:authenticated",))
NO_LOOKUP = ServingOptions(authentication_skip_lookup=True)


class Clock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def headers(**values: str) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict(values))


def bearing(token: str) -> CIMultiDictProxy[str]:
    return headers(Authorization=f"Bearer {token}")


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    return run_in_virtual_time(work())  # type: ignore[arg-type]


def authentication(api: FakeApi, options: ServingOptions = NO_LOOKUP, clock: Clock | None = None) -> Authentication:
    return Authentication(options, api, lambda line: None, clock or Clock())


# -- tokens


@pytest.mark.parametrize(
    ("case", "header", "token"),
    [
        ("a token", "Bearer abc", "abc"),
        ("in any case", "bEARER abc", "abc"),
        ("white space around it", "  Bearer abc  ", "abc"),
        ("what follows is ignored", "Bearer abc def", "abc"),
        ("a space too many", "Bearer  abc", ""),
        ("no token", "Bearer", ""),
        ("another scheme", "Basic abc", ""),
        ("nothing", "", ""),
    ],
)
def test_the_token_in_a_header(case: str, header: str, token: str) -> None:
    assert bearer_token(headers(Authorization=header)) == token, case


def test_owners_of_tokens_are_remembered_for_a_while() -> None:
    """Those of good ones and that bad ones are nobody's; not beyond the time that was set."""
    api, clock = FakeApi(), Clock()
    api.tokens["good"] = {"username": "anna"}
    asking = authentication(api, ServingOptions(authentication_token_webhook_cache_ttl=10.0), clock)

    async def story() -> None:
        for moment, questions in ((0.0, 1), (9.9, 1), (10.0, 2), (19.9, 2), (20.1, 3)):
            clock.now = 100.0 + moment
            assert await asking.authenticate(bearing("good"), ()) == ANNA
            with pytest.raises(UnauthenticatedError, match="invalid bearer token"):
                await asking.authenticate(bearing("bad"), ())
            assert api.count(TOKEN_REVIEWS) == 2 * questions, moment
        del api.tokens["good"]
        assert await asking.authenticate(bearing("good"), ()) == ANNA
        clock.now += 10
        with pytest.raises(UnauthenticatedError):
            await asking.authenticate(bearing("good"), ())

    run(story)


def test_without_a_time_nothing_is_remembered() -> None:
    api = FakeApi()
    api.tokens["good"] = {"username": "anna"}
    asking = authentication(api, ServingOptions(authentication_token_webhook_cache_ttl=0.0))

    async def story() -> None:
        for _ in range(3):
            await asking.authenticate(bearing("good"), ())

    run(story)
    assert api.count(TOKEN_REVIEWS) == 3


def test_many_that_ask_at_once_cost_one_review() -> None:
    api = FakeApi()
    api.tokens["good"] = {"username": "anna"}
    asking = authentication(api)

    async def story() -> None:
        await asyncio.gather(*(asking.authenticate(bearing("good"), ()) for _ in range(50)))

    run(story)
    assert api.count(TOKEN_REVIEWS) == 1


@pytest.mark.parametrize(
    ("case", "user", "groups"),
    [
        ("everybody with a proof is authenticated", {"username": "a", "groups": ["g"]}, ("g", "system:authenticated")),
        ("who is said to be already", {"username": "a", "groups": ["system:authenticated"]}, ("system:authenticated",)),
        ("who is said not to be", {"username": "a", "groups": ["system:unauthenticated"]}, ("system:unauthenticated",)),
        ("anonymous by name", {"username": "system:anonymous"}, ()),
    ],
)
def test_the_group_of_the_authenticated(case: str, user: dict[str, Any], groups: tuple[str, ...]) -> None:
    api = FakeApi()
    api.tokens["t"] = user
    asking = authentication(api)

    async def story() -> UserInfo:
        return await asking.authenticate(bearing("t"), ())

    assert run(story).groups == groups, case


# -- trouble


@pytest.mark.parametrize(
    ("case", "errors", "answered", "asked"),
    [
        ("a server that is busy", [RefusedError(429)], True, 2),
        ("one that fails inside", [RefusedError(500), RefusedError(504)], True, 3),
        ("for too long", [RefusedError(500)] * 5, False, 5),
        ("what asking again does not help", [RefusedError(403)], False, 1),
        ("nor this", [RefusedError(503)], False, 1),
    ],
)
def test_passing_trouble_is_waited_for(case: str, errors: list[Exception], answered: bool, asked: int) -> None:
    api = FakeApi()
    api.tokens["good"] = {"username": "anna"}
    api.errors = list(errors)
    asking = authentication(api)

    async def story() -> UserInfo | None:
        try:
            return await asking.authenticate(bearing("good"), ())
        except UnauthenticatedError:
            return None

    assert run(story) == (ANNA if answered else None), case
    assert api.count(TOKEN_REVIEWS) == asked, case


def test_errors_are_not_remembered() -> None:
    api = FakeApi()
    api.tokens["good"] = {"username": "anna"}
    api.errors = [RefusedError(403)]
    asking = authentication(api)

    async def story() -> UserInfo:
        with pytest.raises(UnauthenticatedError):
            await asking.authenticate(bearing("good"), ())
        return await asking.authenticate(bearing("good"), ())

    assert run(story) == ANNA


class Odd(FakeApi):
    """An API server that answers something else, or nothing."""

    def __init__(self, answer: bytes | None) -> None:
        super().__init__()
        self._answer = answer

    async def send(self, method: str, path: str, body: bytes | None = None) -> bytes:
        if self._answer is None:
            await asyncio.sleep(3600)
        return self._answer or b""


@pytest.mark.parametrize(
    ("case", "answer", "words"),
    [
        ("no answer", None, "no answer within 10 seconds"),
        ("nothing", b"", "the answer is no review"),
        ("a page", b"<html>", "the answer is no review"),
        ("no status", b"{}", "the answer is no review"),
        ("a status of another kind", b'{"status": "Failure"}', "the answer is no review"),
        ("a user that is none", b'{"status": {"authenticated": true, "user": 5}}', "the answer is no review"),
        ("a server that says why", b'{"status": {"error": "token expired"}}', "token expired"),
    ],
)
def test_answers_that_are_none(case: str, answer: bytes | None, words: str) -> None:
    asking = authentication(Odd(answer))

    async def story() -> str:
        with pytest.raises(UnauthenticatedError) as raised:
            await asking.authenticate(bearing("abc"), ())
        return str(raised.value)

    assert words in run(story), case


def test_letters_that_are_none_in_headers_do_no_harm() -> None:
    async def story() -> UserInfo:
        return await authentication(FakeApi()).authenticate(headers(Authorization="Basic \ufffd"), ())

    assert run(story) == ANONYMOUS


# -- may they?


def test_yes_and_no_are_remembered_for_their_times() -> None:
    api, clock = FakeApi(), Clock()
    api.allowed = {("anna", "/metrics")}
    options = ServingOptions(
        authorization_webhook_cache_authorized_ttl=20.0, authorization_webhook_cache_unauthorized_ttl=5.0
    )
    deciding = Authorization(options, api, lambda line: None, clock)

    async def story() -> None:
        for moment, questions in ((0, 2), (4.9, 2), (5.0, 3), (9.9, 3), (10, 4), (20, 6)):
            clock.now = 100.0 + moment
            assert (await deciding.authorize(ANNA, "get", "/metrics")).allowed
            assert not (await deciding.authorize(ANNA, "get", "/configz")).allowed
            assert api.count(ACCESS_REVIEWS) == questions, moment

    run(story)


def test_verdicts_are_not_mixed_up() -> None:
    """Another user, group, verb or path is another question."""
    api = FakeApi()
    deciding = Authorization(ServingOptions(), api, lambda line: None, Clock())
    questions = [
        (UserInfo("a"), "get", "/x"),
        (UserInfo("b"), "get", "/x"),
        (UserInfo("a", ("g",)), "get", "/x"),
        (UserInfo("a", (), "uid"), "get", "/x"),
        (UserInfo("a", (), "", {"k": ("v",)}), "get", "/x"),
        (UserInfo("a"), "put", "/x"),
        (UserInfo("a"), "get", "/y"),
    ]

    async def story() -> None:
        for _ in range(2):
            for question in questions:
                await deciding.authorize(*question)

    run(story)
    assert len(api.asked) == len(questions)


def test_very_long_paths_are_not_remembered() -> None:
    api = FakeApi()
    deciding = Authorization(ServingOptions(), api, lambda line: None, Clock())

    async def story() -> None:
        for _ in range(2):
            await deciding.authorize(ANNA, "get", "/" + "x" * LONGEST_REMEMBERED)

    run(story)
    assert len(api.asked) == 2


def test_a_verdict_that_contradicts_itself_is_an_error() -> None:
    deciding = Authorization(
        ServingOptions(), Odd(b'{"status": {"allowed": true, "denied": true}}'), lambda line: None, Clock()
    )

    async def story() -> None:
        with pytest.raises(KubeschedError, match="both allow and deny"):
            await deciding.authorize(ANNA, "get", "/metrics")

    run(story)


# -- remembering itself


def test_no_more_is_remembered_than_was_set() -> None:
    """The least recently used is forgotten first."""
    asked: list[bytes] = []

    async def story() -> None:
        remembered = AnswerCache[bytes](2, lambda value: 10.0, Clock())

        async def get(key: bytes) -> None:
            async def ask() -> bytes:
                asked.append(key)
                return key

            assert await remembered.get(key, ask) == key

        for key in (b"a", b"b", b"a", b"c", b"a", b"b"):
            await get(key)
        assert len(remembered) == 2

    run(story)
    assert asked == [b"a", b"b", b"c", b"b"]


def test_a_question_is_given_up_with_the_last_one_that_waits() -> None:
    """One who leaves does not take the answer from the others; and the next one asks anew."""
    ended: list[str] = []

    async def story() -> str:
        remembered = AnswerCache[str](2, lambda value: 0.0, Clock())

        async def ask() -> str:
            try:
                await asyncio.sleep(5)
            except asyncio.CancelledError:
                ended.append("given up")
                raise
            ended.append("answered")
            return "yes"

        first, second = (asyncio.ensure_future(remembered.get(b"k", ask)) for _ in range(2))
        await asyncio.sleep(1)
        first.cancel()
        assert await second == "yes"
        assert ended == ["answered"]
        lonely = asyncio.ensure_future(remembered.get(b"k", ask))
        await asyncio.sleep(1)
        lonely.cancel()
        next_one = asyncio.ensure_future(remembered.get(b"k", ask))
        return await next_one

    assert run(story) == "yes"
    assert ended == ["answered", "given up", "answered"]
