function withCode(message: string, code: string, more: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(message), { code, ...more });
}

/** What fetch rejects with when the connection was reset before an answer. */
export function connectionReset(): TypeError {
  const cause = withCode("read ECONNRESET", "ECONNRESET", { errno: -104, syscall: "read" });
  return new TypeError("fetch failed", { cause });
}

/** What fetch rejects with for a host that does not exist, and, for the person who reads it, the hosts that do. */
export function unknownHost(hostname: string, known: readonly string[]): TypeError {
  const more = { errno: -3008, syscall: "getaddrinfo", hostname };
  return new TypeError("fetch failed", {
    cause: withCode(
      `getaddrinfo ENOTFOUND ${hostname} (the emulator answers for ${known.join(" and ")})`,
      "ENOTFOUND",
      more,
    ),
  });
}

/** What reading a body rejects with when the connection dies under it. */
export function terminated(): TypeError {
  const cause = withCode("other side closed", "UND_ERR_SOCKET");
  cause.name = "SocketError";
  return new TypeError("terminated", { cause });
}
