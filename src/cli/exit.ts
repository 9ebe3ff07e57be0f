// What a command's end means to a script.

/** 0 ok, 1 usage or config, 2 internal, 3 sign-in, 4 unreachable, 5 tool error, 6 denied, 7 approval pending, 8 energy. */
export const EXIT = { ok: 0, usage: 1, internal: 2, cancelled: 130 } as const
