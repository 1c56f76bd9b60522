/** One textual change of a source file that makes the gateway leak. */
export interface SeededLeak {
  readonly leak: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly from: string;
  readonly to: string;
  /** requests: valid settings leak. settings: a check no longer refuses settings that leak. */
  readonly caughtBy: 'requests' | 'settings';
}

export const SEEDED_LEAKS: readonly SeededLeak[] = [
  {
    leak: 'the next target gets the credential of the target before it',
    file: 'src/core/send/call.ts',
    from: 'const headers = entry.provider.authorize({ upstreamToken: exchange.upstreamToken });',
    to: 'const headers = ((exchange as any).kept ??= entry.provider.authorize({ upstreamToken: exchange.upstreamToken }));',
    caughtBy: 'requests',
  },
  {
    leak: 'two service accounts share one access token',
    file: 'src/core/providers/vertex-ai/token-source.ts',
    from: 'JSON.stringify([...parts, SCOPE])',
    to: 'JSON.stringify([parts[0], SCOPE])',
    caughtBy: 'requests',
  },
  {
    leak: 'a gateway key in Authorization is passed through',
    file: 'plugins/auth/index.ts',
    from: `authorization !== found.key &&
          mayForward(host.keys, exchange, authorization)`,
    to: 'true',
    caughtBy: 'requests',
  },
  {
    leak: 'secret_headers of one entry are sent to others',
    file: 'src/core/providers/openai/headers.ts',
    from: 'credentials: Object.freeze({ ...secrets, ...own.credentials }),',
    to: 'credentials: { ...Object.assign(((globalThis as any).kept ??= {}), secrets), ...own.credentials },',
    caughtBy: 'requests',
  },
  {
    leak: "the gateway's own headers are forwarded",
    file: 'src/core/translate/outbound-headers.ts',
    from: 'for (const name of forward) {',
    to: "for (const name of [...forward, ...Object.keys(request.headers).filter((name) => name.startsWith('x-gateway-'))]) {",
    caughtBy: 'requests',
  },
  {
    leak: "the caller's token is sent to entries that have a credential",
    file: 'src/core/providers/openai/entry.ts',
    from: "return credentials === 'caller' ? bearerOf(caller) : credentials;",
    to: "return credentials === 'caller' ? bearerOf(caller) : { ...bearerOf(caller), ...credentials };",
    caughtBy: 'requests',
  },
  {
    leak: 'a custom host gets the key of a catalog entry',
    file: 'src/core/catalog/target-resolver.ts',
    from: 'const custom = customHost(input.exchange, input.access);',
    to: `const custom = customHost(input.exchange, input.access);
    const known = this.#catalog.byProvider.get('openai')?.[0]?.provider;
    if (custom && known) custom.provider.authorize = (caller) => known.authorize(caller);`,
    caughtBy: 'requests',
  },
  {
    leak: 'headers that Connection names are forwarded',
    file: 'src/core/http/gateway/exchange.ts',
    from: 'this.headers = endToEnd(req.headers, head);',
    to: 'this.headers = req.headers;',
    caughtBy: 'requests',
  },
  {
    leak: 'a header is forwarded to the targets beside the one that names it',
    file: 'src/core/settings/compile/gateway-config.ts',
    from: 'file.forward_headers?.map((name) => name.toLowerCase()) ?? around.forwardHeaders',
    to: '((around as any).forwardHeaders = file.forward_headers?.map((name) => name.toLowerCase()) ?? around.forwardHeaders)',
    caughtBy: 'requests',
  },
  {
    leak: 'a config may forward cookies',
    file: 'src/core/settings/values/credential-names.ts',
    from: "'authori[sz]ation|cookie|token",
    to: "'authori[sz]ation|token",
    caughtBy: 'settings',
  },
  {
    leak: 'a name in upper case is not compared with the forbidden ones',
    file: 'src/core/settings/checks/forward-headers.ts',
    from: 'const name = written.toLowerCase();',
    to: 'const name = written;',
    caughtBy: 'settings',
  },
  {
    leak: 'a name with underscores is not compared with the forbidden ones',
    file: 'src/core/settings/checks/forward-headers.ts',
    from: "const folded = (name: string): string => name.replaceAll(/[^a-z0-9]/g, '-');",
    to: 'const folded = (name: string): string => name;',
    caughtBy: 'settings',
  },
  {
    leak: "only the first prefix of header_prefixes is the gateway's own",
    file: 'src/core/settings/checks/forward-headers.ts',
    from: 'if (prefixes.some((prefix) =>',
    to: 'if (prefixes.slice(0, 1).some((prefix) =>',
    caughtBy: 'settings',
  },
  {
    leak: 'targets inside a config may forward any header',
    file: 'src/core/settings/checks/forward-headers.ts',
    from: 'node({ file: { forward_headers: names = [] } }, report) {',
    to: 'config({ file: { forward_headers: names = [] } }, report) {',
    caughtBy: 'settings',
  },
  {
    leak: 'a config may forward the header of secret_headers',
    file: 'src/core/settings/checks/forward-headers.ts',
    from: 'const held = [...credentials].find(',
    to: 'const held = [...new Map<string, string>()].find(',
    caughtBy: 'settings',
  },
  {
    leak: 'the address of an entry may hold the credential of another',
    file: 'src/core/settings/checks/credentials.ts',
    from: 'const owner = secrets.ownerIn(text);\n    if (owner !== undefined)\n      report({ path, message: `${owner} appears here',
    to: 'const owner = undefined;\n    if (owner !== undefined)\n      report({ path, message: `${owner} appears here',
    caughtBy: 'settings',
  },
];
