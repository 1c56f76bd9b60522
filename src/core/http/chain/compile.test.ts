import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { writeSettings } from '../../../../test/support/write-settings.ts';
import { checkSettings } from '../../dry-run/check-settings.ts';
import { describe as inWords } from '../../settings/source/diagnostic.ts';
import { loadSettings } from '../../settings/read/load.ts';
import { createContext, createExchange, createFakeClock } from '../../../plugin/testing/index.ts';
import type { GatewayContext, Middleware } from '../../kernel/index.ts';
import { currentWork } from '../../kernel/outside/plugin-work.ts';
import { compose } from './compose.ts';
import type { Instance } from './instance.ts';

const API = pathToFileURL(join(import.meta.dirname, '../../../plugin/index.ts')).href;

interface Files {
  /** Text of server.yaml; `MODULE` stands for the path of `module`. */
  readonly server?: string;
  readonly gateway?: Readonly<Record<string, string>>;
  /** Source of an external plugin module. `api` is the plugin API, `none` a schema without options. */
  readonly module?: string;
}

/** All problems of a settings folder as text with their places: `server.yaml:2:11: …`. */
async function problemsOf({ server = '', gateway = {}, module }: Files): Promise<readonly string[]> {
  const outside = mkdtempSync(join(tmpdir(), 'gatehouse-module-'));
  const file = join(outside, 'plugins.mjs');
  if (module !== undefined) {
    writeFileSync(
      file,
      `import * as api from ${JSON.stringify(API)};\nconst none = { type: 'object', additionalProperties: false, properties: {} };\n${module}\n`,
    );
  }
  const catalog = { providers: [{ slug: 'sim', provider: 'openai', base_url: 'https://sim.example/v1' }] };
  const folder = writeSettings({ server: server.replaceAll('MODULE', file), catalog, gateway });
  try {
    const loaded = await loadSettings(folder, { env: {} });
    await checkSettings(loaded, folder);
    return loaded.diagnostics.map((one) => inWords(one).replace(`${folder}/`, '').replaceAll(file, 'MODULE'));
  } finally {
    rmSync(folder, { recursive: true });
    rmSync(outside, { recursive: true });
  }
}

const withModule = (chains: string): string => `plugins: [MODULE]\nchains:\n${chains}\n`;
const define = (definition: string): string =>
  `export default api.definePlugin({ options: none, create: () => (ctx, next) => next(), ${definition} });`;

describe('a chain in the settings', () => {
  it('is valid by default and if it is written out', async () => {
    const server = `chains:
  entry: [telemetry, errors, auth, body, config]
  request: [metadata, route]
  attempt: [override, transform, retry, send]
`;
    expect(await problemsOf({})).toEqual([]);
    expect(await problemsOf({ server, gateway: { own: 'plugins: [route]\nprovider: "@sim"\n' } })).toEqual([]);
  });

  it('may contain a plugin twice, each with its own name and options', async () => {
    const server = `chains:
  request:
    - plugin: metadata
      name: strict-metadata
      options: { max_keys: 2 }
    - metadata
    - route
`;
    expect(await problemsOf({ server })).toEqual([]);
  });
});

describe('an error in a chain is reported at its place', () => {
  it.each<[string, Files, readonly string[]]>([
    [
      'a misspelt plugin, with the nearest name',
      { server: 'chains:\n  request: [metdata, route]\n' },
      ['server.yaml:2:13: unknown plugin "metdata"; did you mean "metadata"?'],
    ],
    [
      'a misspelt plugin with options',
      { server: 'chains:\n  request:\n    - plugin: rout\n' },
      ['server.yaml:3:15: unknown plugin "rout"; did you mean "route"?'],
    ],
    [
      'an unknown plugin without a near name',
      { server: 'chains:\n  request: [quantum-entangler, route]\n' },
      ['server.yaml:2:13: unknown plugin "quantum-entangler"'],
    ],
    [
      'a plugin of another chain',
      { server: 'chains:\n  request: [metadata, retry, route]\n' },
      ['server.yaml:2:23: plugin "retry" belongs in the attempt chain, this is the request chain'],
    ],
    [
      'a plugin before the one it needs, with the one to move',
      { server: 'chains:\n  attempt:\n    - override\n    - retry\n    - transform\n    - send\n' },
      [
        'server.yaml:4:7: plugin "retry" needs "outbound" from a plugin earlier in the chain; put "transform" before it',
      ],
    ],
    [
      'a plugin without the one it needs',
      { server: 'chains:\n  entry: [telemetry, errors, auth, config]\n' },
      ['server.yaml:2:36: plugin "config" needs "body" from a plugin earlier in the chain; put "body" before it'],
    ],
    [
      'every error of every chain at once',
      { server: 'chains:\n  entry: [errors, body]\n  request: [rout]\n' },
      [
        'server.yaml:2:10: warning: this chain leaves out "auth": requests need no key, and what keys may use, their limits and their budgets do not hold',
        'server.yaml:2:19: plugin "body" needs "caller" from a plugin earlier in the chain; put "auth" before it',
        'server.yaml:3:13: unknown plugin "rout"; did you mean "route"?',
      ],
    ],
    [
      'the chain of one gateway config, in its file',
      { gateway: { own: 'name: Own\nplugins:\n  - metadata\n  - rout\n' } },
      ['gateway/own.yaml:4:5: unknown plugin "rout"; did you mean "route"?'],
    ],
    [
      'the attempt chain of one target, in the list of its config',
      {
        gateway: {
          own: 'targets:\n  - provider: "@sim"\n    plugins: [override, transform, retry]\nplugins: [auth, route, transform, { plugin: retry, options: { x: 1 } }, send]\n',
        },
      },
      [
        'gateway/own.yaml:3:5: a list with attempt plugins replaces the attempt chain: it must hold "transform" and end with "send"; write `plugins: [override, transform, retry, send]`',
        'gateway/own.yaml:4:11: plugin "auth" belongs in the entry chain, which `chains.entry` of server.yaml lists for all configs; a config lists request and attempt plugins',
        'gateway/own.yaml:4:63: unknown key `x`',
      ],
    ],
    [
      'a plugin in an equal list of another place, each',
      {
        gateway: {
          a: 'provider: "@sim"\nplugins: [retry, transform, send]\n',
          b: 'plugins: [retry, transform, send]\n',
        },
      },
      [
        'gateway/a.yaml:2:11: plugin "retry" needs "outbound" from a plugin earlier in the chain; put "transform" before it',
        'gateway/b.yaml:1:11: plugin "retry" needs "outbound" from a plugin earlier in the chain; put "transform" before it',
      ],
    ],
  ])('%s', async (_, files, problems) => {
    expect(await problemsOf(files)).toEqual(problems);
  });
});

describe('an error in the options of a plugin is reported at its place', () => {
  const options = (text: string): string =>
    `chains:\n  request:\n    - plugin: metadata\n      options:\n        ${text}\n    - route\n`;

  it.each([
    ['a misspelt option', 'max_kyes: 3', 'server.yaml:5:9: unknown key `max_kyes`; did you mean "max_keys"?'],
    ['a wrong type', 'max_keys: many', 'server.yaml:5:19: `max_keys` must be a whole number, not "many"'],
    ['a number out of range', 'max_keys: 65', 'server.yaml:5:19: `max_keys` must be at most 64, not 65'],
  ])('%s', async (_, text, problem) => {
    expect(await problemsOf({ server: options(text) })).toEqual([problem]);
  });

  it('even if the plugin has no options', async () => {
    const gateway = { own: 'plugins:\n  - plugin: route\n    options: { fast: true }\n' };
    expect(await problemsOf({ gateway })).toEqual(['gateway/own.yaml:3:16: unknown key `fast`']);
  });

  it('and if a required option is missing', async () => {
    const module = `export default api.definePlugin({ name: 'needy', level: 'request', options: { type: 'object', additionalProperties: false, required: ['url'], properties: { url: { type: 'string', description: 'Where to ask. Any host.' } } }, create: () => (ctx, next) => next() });`;
    const server = withModule('  request:\n    - needy\n    - route');
    expect(await problemsOf({ module, server })).toEqual([
      expect.stringMatching(/^server\.yaml:4:7: `url` is missing/),
    ]);
  });
});

describe('an external plugin', () => {
  const request = withModule('  request: [own, route]');
  const attempt = withModule('  attempt: [override, transform, own, retry, send]');

  it.each<[string, string, string, readonly string[]]>([
    ['is compiled like the built-in ones', define(`name: 'own', level: 'request'`), request, []],
    [
      'is never granted `send`',
      define(`name: 'own', level: 'attempt', needs: ['send']`),
      attempt,
      ['server.yaml:3:34: plugin "own" needs "send", which external plugins do not get'],
    ],
    [
      'is never granted `cache`, which would hide the service of this name',
      define(`name: 'own', level: 'attempt', needs: ['cache']`),
      attempt,
      ['server.yaml:3:34: plugin "own" needs "cache", which external plugins do not get'],
    ],
    [
      'gets an error for a capability that its chain lacks',
      define(`name: 'own', level: 'attempt', needs: ['configs']`),
      attempt,
      ['server.yaml:3:34: plugin "own" cannot start: "configs" is not available in the attempt chain'],
    ],
    [
      'that fails to start is reported with the reason',
      define(`name: 'own', level: 'request', create() { throw new Error('no such file: rules.txt'); }`),
      request,
      ['server.yaml:3:13: plugin "own" cannot start: no such file: rules.txt'],
    ],
    [
      'that fails to start asynchronously is reported too',
      define(
        `name: 'own', level: 'request', async create() { await null; throw new Error('no such file: rules.txt'); }`,
      ),
      request,
      ['server.yaml:3:13: plugin "own" cannot start: no such file: rules.txt'],
    ],
    [
      'with an invalid options schema is reported',
      define(`name: 'own', level: 'request', options: { type: 'objekt' }`),
      request,
      [expect.stringMatching(/^server\.yaml:3:13: .*schema.*type/)],
    ],
    [
      'may require names that the entry chain provides',
      define(`name: 'own', level: 'request', requires: ['caller', 'body', 'config']`),
      request,
      [],
    ],
    [
      'may require names that entry and request chains provide',
      define(`name: 'own', level: 'attempt', requires: ['caller', 'metadata', 'outbound']`),
      attempt,
      [],
    ],
    [
      'may not require names that its own chain provides later',
      define(`name: 'own', level: 'attempt', requires: ['reply']`),
      attempt,
      ['server.yaml:3:34: plugin "own" needs "reply" from a plugin earlier in the chain; put "send" before it'],
    ],
    [
      'may not require names that only another chain provides, which the error names',
      define(`name: 'own', level: 'request', requires: ['outbound']`),
      request,
      [
        'server.yaml:3:13: plugin "own" needs "outbound" from a plugin before it; "transform" provides it, in the attempt chain',
      ],
    ],
    [
      'may not require names that no plugin provides',
      define(`name: 'own', level: 'request', requires: ['peace']`),
      request,
      ['server.yaml:3:13: plugin "own" needs "peace" from a plugin before it'],
    ],
    [
      'cannot take the name of a built-in one',
      define(`name: 'auth', level: 'entry'`),
      'plugins: [MODULE]\n',
      ['server.yaml:1:11: another plugin already has the name "auth"'],
    ],
    [
      'must be made by definePlugin',
      `export default { name: 'own', level: 'request', needs: [], options: none, create: () => () => {} };`,
      'plugins: [MODULE]\n',
      ['server.yaml:1:11: cannot load MODULE: its default export is not a plugin made by definePlugin'],
    ],
    [
      'may have another name in the settings',
      define(`name: 'own', level: 'request'`),
      'plugins: [{ module: MODULE, name: mine }]\nchains:\n  request: [mine, metadata, route]\n',
      [],
    ],
    [
      'has the hash that the settings say',
      define(`name: 'own', level: 'request'`),
      `plugins: [{ module: MODULE, integrity: sha256-${'A'.repeat(43)}= }]\n`,
      [
        expect.stringMatching(
          /^server.yaml:1:11: cannot load MODULE: its integrity is sha256-[\w+/]{43}=, and not that of the settings/,
        ) as string,
      ],
    ],
    [
      'is not written for a newer plugin API',
      define(`name: 'own', level: 'request', minApi: 2`),
      'plugins: [MODULE]\n',
      [
        'server.yaml:1:11: cannot load MODULE: plugin "own" needs version 2 of the plugin API, and this gateway has version 1',
      ],
    ],
    [
      'has no field of a newer plugin API',
      define(`name: 'own', level: 'request', sandbox: true`),
      'plugins: [MODULE]\n',
      [
        'server.yaml:1:11: cannot load MODULE: plugin "own": version 1 of the plugin API has no "sandbox"; is it written for a newer gateway?',
      ],
    ],
    [
      'declares no error that the gateway has',
      define(`name: 'own', level: 'request', errors: { busy: { status: 503, type: 'server_error' } }`),
      'plugins: [MODULE]\n',
      [
        'server.yaml:1:11: cannot load MODULE: the `errors` of plugin "own" cannot be used: "busy" is a code of the gateway\'s own',
      ],
    ],
    [
      'declares errors with the status of one',
      define(`name: 'own', level: 'request', errors: { fine: { status: 200, type: 'server_error' } }`),
      'plugins: [MODULE]\n',
      [
        'server.yaml:1:11: cannot load MODULE: the `errors` of plugin "own" cannot be used: the status of "fine" is not from 400 to 599',
      ],
    ],
    [
      'is skipped only if it is pure or observes',
      define(`name: 'own', level: 'request'`),
      'plugins: [MODULE]\nchains:\n  request: [{ plugin: own, on_error: skip }, metadata, route]\n',
      ['server.yaml:3:38: "own" can be skipped only if it has `pure: true`, or `reads` that only observe'],
    ],
    [
      'may be skipped if it is pure, unlike one of the gateway',
      define(`name: 'own', level: 'request', pure: true`),
      'plugins: [MODULE]\nchains:\n  request: [{ plugin: own, on_error: skip }, { plugin: metadata, on_error: skip }, route]\n',
      ['server.yaml:3:76: "metadata" is a plugin of the gateway, which is never skipped'],
    ],
    [
      'has one of the three levels',
      `export default api.definePlugin({ name: 'own', level: 5, options: none, create: () => () => {} });`,
      'plugins: [MODULE]\n',
      ['server.yaml:1:11: cannot load MODULE: the level of plugin "own" is 5, and not one of entry, request, attempt'],
    ],
    [
      'has a schema of its options',
      `export default api.definePlugin({ name: 'own', level: 'entry', options: 'none', create: () => () => {} });`,
      'plugins: [MODULE]\n',
      ['server.yaml:1:11: cannot load MODULE: the `options` of plugin "own" are no JSON Schema: "none"'],
    ],
    [
      'is made in the mode `dry` to be checked',
      `export default api.definePlugin({ name: 'own', level: 'request', options: none, create({ host }) { throw new Error('made in ' + host.mode); } });`,
      request,
      ['server.yaml:3:13: plugin "own" cannot start: made in dry'],
    ],
    [
      'must load',
      `throw new Error('broken module');`,
      'plugins: [MODULE]\n',
      ['server.yaml:1:11: cannot load MODULE: broken module'],
    ],
    [
      'must not leave a timer of its module running',
      `setInterval(() => {}, 60_000);\n${define(`name: 'own', level: 'request'`)}`,
      request,
      [
        'server.yaml:1:1: warning: the plugin "own" leaves a timer or a connection behind, which each reload would add to: end it in `host.onClose`, or `unref()` it',
      ],
    ],
    [
      'must not leave a timer of its work running',
      `export default api.definePlugin({ name: 'own', level: 'request', options: none, create: () => { setTimeout(() => {}, 60_000); return (ctx, next) => next(); } });`,
      request,
      [
        'server.yaml:1:1: warning: the plugin "own" leaves a timer or a connection behind, which each reload would add to: end it in `host.onClose`, or `unref()` it',
      ],
    ],
    [
      'may have timers that it ends, or that keep no process alive',
      `setInterval(() => {}, 60_000).unref();\nexport default api.definePlugin({ name: 'own', level: 'request', options: none, create: ({ host }) => { const timer = setInterval(() => {}, 60_000); host.onClose(() => clearInterval(timer)); return (ctx, next) => next(); } });`,
      request,
      [],
    ],
    [
      'must be an installed package, or a path',
      '',
      'plugins: [no-such-package]\n',
      [
        'server.yaml:1:11: cannot load no-such-package: no package of this name is installed at the settings folder or above it',
      ],
    ],
    [
      'is a path with a dot before it',
      '',
      'plugins: [catalog.yaml]\n',
      [
        'server.yaml:1:11: cannot load catalog.yaml: this is the name of a package; the path of a file begins with `./`; did you mean "./catalog.yaml"?',
      ],
    ],
  ])('%s', async (_, module, server, problems) => {
    expect(await problemsOf({ module, server })).toEqual(problems);
  });

  it('may require in an attempt chain of a config what that config’s request chain provides', async () => {
    const module = define(`name: 'own', level: 'attempt', requires: ['metadata']`);
    const server = 'plugins: [MODULE]\n';
    const list = (request: string) => `provider: "@sim"\nplugins: [${request}, own, transform, send]\n`;
    expect(
      await problemsOf({
        module,
        server,
        gateway: {
          with: list('metadata, route'),
          without: list('route'),
          inherits: 'plugins: [own, transform, send]\n',
        },
      }),
    ).toEqual([
      'gateway/without.yaml:2:18: plugin "own" needs "metadata" from a plugin before it; "metadata" provides it, in the request chain',
    ]);
  });

  it('may not require in an attempt a name that only some request chains provide', async () => {
    const module = define(`name: 'own', level: 'attempt', requires: ['metadata']`);
    expect(
      await problemsOf({ module, server: attempt, gateway: { bare: 'plugins: [route]\nprovider: "@sim"\n' } }),
    ).toEqual([
      'server.yaml:3:34: plugin "own" needs "metadata" from a plugin before it; "metadata" provides it, in the request chain',
    ]);
  });

  it('is closed again if other settings are invalid', async () => {
    const module = `globalThis.closedPlugins ??= [];\n${define(`name: 'own', level: 'request', create({ host }) { host.onClose(() => globalThis.closedPlugins.push('own')); return (ctx, next) => next(); }`)}`;
    await problemsOf({ module, server: withModule('  request: [own, rout]') });
    expect(Reflect.get(globalThis, 'closedPlugins')).toEqual(['own']);
  });
});

// The chain only passes the context on; these tests give it a list to write to.
const run = async (instances: readonly Instance[], log: string[] = []) => {
  await compose(instances, 'entry')({ log } as unknown as GatewayContext);
  return log;
};
const logOf = (ctx: GatewayContext): string[] => (ctx as unknown as { log: string[] }).log;
const plugin = (name: string, middleware: Middleware, repeats = false): Instance => ({ name, middleware, repeats });
const around = (name: string): Instance =>
  plugin(name, async (ctx, next) => {
    logOf(ctx).push(`${name} down`);
    await next();
    logOf(ctx).push(`${name} up`);
  });

describe('a composed chain', () => {
  it('runs plugins in order on the way down and in reverse on the way up', async () => {
    expect(await run([around('a'), around('b')])).toEqual(['a down', 'b down', 'b up', 'a up']);
  });

  it('does nothing when it is empty', async () => {
    expect(await run([])).toEqual([]);
  });

  it('runs the rest of the chain again for a plugin that declares repeats', async () => {
    const twice = plugin(
      'twice',
      async (_, next) => {
        await next();
        await next();
      },
      true,
    );
    expect(await run([twice, around('a')])).toEqual(['a down', 'a up', 'a down', 'a up']);
  });

  it('refuses a second next() of a plugin that does not, and names the plugin', async () => {
    const twice = plugin('twice', async (_, next) => {
      await next();
      await next();
    });
    await expect(run([twice, around('a')])).rejects.toThrow(
      'plugin "twice" called next() twice without declaring repeats',
    );
  });

  it('allows a retry after a failure if the plugin declares repeats', async () => {
    const answers = [new Error('not yet'), new Error('not yet')];
    const flaky = plugin('flaky', async () => {
      const failure = answers.pop();
      if (failure) throw failure;
    });
    const retry = plugin(
      'retry',
      async (_, next) => {
        for (let tries = 0; tries < 3; tries += 1) {
          try {
            return await next();
          } catch {}
        }
      },
      true,
    );
    await expect(run([retry, flaky])).resolves.toEqual([]);
    expect(answers).toEqual([]);
  });

  it('names a plugin that forgets to await next()', async () => {
    const slow = plugin('slow', () => new Promise((resolve) => setImmediate(resolve)));
    const hasty = plugin('hasty', async (_, next) => void next());
    await expect(run([hasty, slow])).rejects.toThrow('plugin "hasty" did not await next()');
  });

  it('names a plugin that calls next() after it has finished', async () => {
    let late: Promise<void> | undefined;
    const tardy = plugin('tardy', async (_, next) => {
      setImmediate(() => {
        late = next();
        late.catch(() => {});
      });
    });
    await run([tardy, around('a')]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(late).rejects.toThrow('plugin "tardy" called next() after it had finished');
  });

  it('keeps a failure that was not awaited from ending the process', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const failing = plugin('failing', async () => {
      await new Promise(setImmediate);
      throw new Error('unheard');
    });
    const hasty = plugin('hasty', async (_, next) => void next());
    await expect(run([hasty, failing])).rejects.toThrow('plugin "hasty" did not await next()');
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('returns a promise from next() even if the next plugin throws synchronously', async () => {
    const log: string[] = [];
    const catcher = plugin('catcher', (ctx, next) =>
      next().catch((error: Error) => void logOf(ctx).push(error.message)),
    );
    const thrower = plugin('thrower', () => {
      throw new Error('broken at once');
    });
    const between = plugin('between', (_, next) => next());
    const own = [between, thrower].map((instance) => ({ ...instance, builtin: true }));
    expect(await run([catcher, ...own], log)).toEqual(['broken at once']);
    await expect(run(own)).rejects.toThrow('broken at once');
  });

  it('runs the rest outside of the work of a plugin, with the stores that it has set', async () => {
    const store = new AsyncLocalStorage<string>();
    const where = (): string => `${currentWork()?.plugin ?? 'no plugin'}, ${store.getStore() ?? 'no store'}`;
    const noting = (name: string, goOn: (next: () => Promise<void>) => Promise<void>): Instance =>
      plugin(name, async (ctx, next) => {
        logOf(ctx).push(`${name}: ${where()}`);
        await goOn(next);
        logOf(ctx).push(`after ${name}: ${where()}`);
      });
    const own = { ...noting('builtin', (next) => next()), builtin: true };
    const chain = [noting('first', (next) => store.run('set', next)), own, noting('second', (next) => next())];
    expect([...(await run(chain)), where()]).toEqual([
      'first: first, no store',
      'builtin: no plugin, set',
      'second: second, set',
      'after second: second, set',
      'after builtin: no plugin, set',
      'after first: first, no store',
      'no plugin, no store',
    ]);
  });

  it('ends a request although the report of its plugin fails', async () => {
    const took = (): never => {
      throw new Error('no report');
    };
    const reports = { took, threw: took };
    const guard = { clock: createFakeClock(), pluginMs: 1000, onFault: took, reports };
    const ctx = createContext(createExchange());
    for (const middleware of [async () => {}, () => Promise.reject(new Error('own'))])
      await expect(compose([{ ...plugin('own', middleware), guard }], 'entry')(ctx)).rejects.toThrow('no report');
  });

  it('passes an error up through every plugin', async () => {
    const log: string[] = [];
    const catcher = plugin('catcher', async (ctx, next) =>
      next().catch((error: Error) => void logOf(ctx).push(error.message)),
    );
    const thrower = plugin('thrower', async () => {
      throw new Error('broken');
    });
    expect(await run([catcher, thrower], log)).toEqual(['broken']);
  });
});
