"""A client that takes nothing but what the protocol's types say.

`lsprotocol` has a class for each message. It refuses a field of the wrong type or a missing one; a
field that it does not know it drops. Here what it has read is written again and compared with what
came, so that a field that the protocol does not have is seen too.
"""

import copy
import functools

import pytest_lsp
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp.client import LanguageClient, register_lsp_features
from pytest_lsp.protocol import LanguageClientProtocol


def surprises(came, read, path):
    """What came and was not read, as paths with their values."""
    if isinstance(came, dict) and isinstance(read, dict):
        for name, value in came.items():
            if name in read:
                yield from surprises(value, read[name], f"{path}.{name}")
            elif value is not None:
                yield f"{path}.{name}: the protocol has no such field ({value!r})"
    elif isinstance(came, list) and isinstance(read, (list, tuple)):
        if len(came) != len(read):
            yield f"{path}: {len(came)} elements came, {len(read)} were read"
        for at, (one, other) in enumerate(zip(came, read)):
            yield from surprises(one, other, f"{path}[{at}]")
    elif came != read:
        yield f"{path}: {came!r} was read as {read!r}"


class Protocol(LanguageClientProtocol):
    def structure_message(self, data):
        came = copy.deepcopy(data)
        message = super().structure_message(data)
        name = type(message).__name__
        self._server.received.append(name)
        read = self._converter.unstructure(message)
        self._server.surprises.extend(surprises(came, read, name))
        return message


@functools.cache
def converter():
    """One for all clients: to make what reads a message takes longer than to read it."""
    return default_converter()


class Client(LanguageClient):
    """Remembers what was wrong with what it was sent; `check` says it."""

    def __init__(self):
        self.received, self.surprises, self.registered = [], [], []
        super().__init__(
            protocol_cls=Protocol,
            converter_factory=converter,
            configuration={"": {"relay": {}}},
        )
        register_lsp_features(self)
        self.feature(types.CLIENT_REGISTER_CAPABILITY)(register)
        self.feature(types.WORKSPACE_INLAY_HINT_REFRESH)(lambda *_: None)
        self.feature(types.WORKSPACE_CODE_LENS_REFRESH)(lambda *_: None)

    def check(self):
        assert self.error is None, self.error
        assert self.surprises == []
        wrong = (types.MessageType.Error, types.MessageType.Warning)
        assert [m.message for m in self.log_messages + self.messages if m.type in wrong] == []


def register(client: Client, params: types.RegistrationParams):
    client.registered.extend(registration.method for registration in params.registrations)


def fixture(command, **arguments):
    config = pytest_lsp.ClientServerConfig(server_command=command, client_factory=Client)
    return pytest_lsp.fixture(config=config, **arguments)
