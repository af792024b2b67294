"""Signing in to the endpoint of the tests: Basic, Digest and Bearer, checked as a real server checks them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.request import parse_http_list, parse_keqv_list

_REALM = "museum"
_NONCE = "4f6e6c79206f6e6365"


@dataclass(frozen=True)
class Auth:
    """Who may ask; `user` and `password` for basic and digest, `token` for bearer."""

    kind: Literal["basic", "digest", "bearer"] = "basic"
    user: str = "keeper"
    password: str = "pass:word"
    token: str = "t0ken"

    def challenge(self) -> str:
        """The WWW-Authenticate header of a 401."""
        if self.kind == "digest":
            return f'Digest realm="{_REALM}", nonce="{_NONCE}", qop="auth", algorithm=MD5'
        return f'{self.kind.capitalize()} realm="{_REALM}"'

    def admits(self, headers: Mapping[str, str], method: str, target: str) -> bool:
        """Whether the request (its headers, method and request target) signs in rightly."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != self.kind:
            return False
        if self.kind == "bearer":
            return given == self.token
        if self.kind == "basic":
            return base64.b64decode(given) == f"{self.user}:{self.password}".encode()
        return self._digested(parse_keqv_list(parse_http_list(given)), method, target)

    def _digested(self, given: Mapping[str, str], method: str, target: str) -> bool:
        secret = _md5(f"{self.user}:{_REALM}:{self.password}")
        turn = [given.get(name, "") for name in ("nc", "cnonce", "qop")]
        expected = _md5(":".join([secret, _NONCE, *turn, _md5(f"{method}:{target}")]))
        return (given.get("nonce"), given.get("uri"), given.get("response")) == (_NONCE, target, expected)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
