import { parseDuration } from '../kernel/units.ts';
import { configs, oneOf, parse, UsageError, type Command, type FlagTable } from './terminal/arguments.ts';

// Commands load their modules when called: most need a small part of the gateway, and `version` needs none.

export const coreCommands = Object.entries<Command>({
  init: {
    usage: 'init [DIR]',
    help: 'Create a settings folder and a gateway key to start with. Overwrites nothing. Default: configs',
    async run(args, world) {
      const { positionals } = parse(args, {}, 1);
      const { initCommand } = await import('./init.ts');
      return initCommand(positionals[0] ?? 'configs', world);
    },
  },
  serve: {
    usage: 'serve [--configs DIR] [--workers N|auto]',
    help: [
      'Start the gateway. DIR holds server.yaml, catalog.yaml, keys.yaml and gateway/; default: configs',
      '--workers N  serve with N processes; auto: one for each processor',
      'Exit code 0: stopped, 1: errors in the settings, or requests were cut, 2: wrong usage, 3: cannot listen',
    ].join('\n'),
    async run(args, { env, out, err, terminal }) {
      const { configs: dir, workers } = parse(args, { ...configs, workers: { type: 'string' } }).values;
      // Registered before the gateway is loaded: signals without a listener do not end the first process of a
      // container.
      const { stopSignal } = await import('./stop-signals.ts');
      const stopped = stopSignal(process, { now: () => performance.now() }, () => process.exit(1));
      const { MAX_WORKERS, readWorkers, serveCommand } = await import('./serve.ts');
      const number = workers === undefined ? undefined : readWorkers(workers);
      if (workers !== undefined && number === undefined)
        throw new UsageError(`--workers must be a number from 1 to ${MAX_WORKERS} or auto, not ${workers}`);
      // Log lines are JSON: a program that reads them finds nothing else on stdout.
      return serveCommand({ configs: dir, env, out: terminal ? out : err, workers: number, stopped });
    },
  },
  validate: {
    usage: 'validate [--configs DIR] [--format pretty|json|github]',
    help: 'Check the settings without starting. Exit code 0: valid, 1: errors, 2: wrong usage',
    async run(args, { env, out }) {
      const options = { ...configs, format: { type: 'string', default: 'pretty' } } as const;
      const { configs: dir, format } = parse(args, options).values;
      const known = oneOf('format', format, ['pretty', 'json', 'github']);
      const [{ validateCommand }, { checkSettings }, { addOnParts, partOf }] = await Promise.all([
        import('./validate.ts'),
        import('../dry-run/check-settings.ts'),
        import('../process/add-on-parts.ts'),
      ]);
      const more = addOnParts.flatMap(({ passes = [] }) => passes);
      return validateCommand({
        dir,
        format: known,
        env,
        out,
        load: partOf('load'),
        passes: [(_, loaded) => checkSettings(loaded, dir), ...more],
      });
    },
  },
  ready: {
    usage: 'ready [--configs DIR] [--url URL] [--timeout 2s]',
    help: 'Ask the running gateway whether it serves requests. Exit code 0: it does, 1: it does not, or does not answer\n--url URL  its status listener; default: `status` of server.yaml, on this machine',
    async run(args, world) {
      const options = { ...configs, url: { type: 'string' }, timeout: { type: 'string', default: '2s' } } as const;
      const { configs: dir, url, timeout } = parse(args, options).values;
      if (!/^[1-9]\d{0,4}m?s$/.test(timeout))
        throw new UsageError(`--timeout must be a time such as 2s, not ${timeout}`);
      if (url !== undefined && !/^http:\/\/[^\s/]+\/?$/.test(url))
        throw new UsageError(`--url must be an address such as http://127.0.0.1:9464, not ${url}`);
      const { readyCommand } = await import('./ready.ts');
      return readyCommand({ ...world, dir, url: url?.replace(/\/$/, ''), timeoutMs: parseDuration(timeout) });
    },
  },
  schema: {
    usage: 'schema server|catalog|keys|gateway|prompt|prices|test',
    help: 'Print the JSON Schema of a settings file as one document',
    async run(args, world) {
      const [kind] = parse(args, {}, 1).positionals;
      if (kind === undefined)
        throw new UsageError('schema needs a kind: schema server, catalog, keys, gateway, prompt, prices or test');
      const { schemaCommand } = await import('./schema.ts');
      return schemaCommand(kind, world);
    },
  },
  'keys create': {
    usage: 'keys create --id NAME [--configs DIR] [--team NAME] [--provider @SLUG]... [--expires MOMENT|90d] [--write]',
    help: 'Create a gateway key and print its entry for keys.yaml; with --write, add the entry there',
    async run(args, world) {
      const { id, provider, team, write, expires, configs: dir } = parse(args, CREATE).values;
      if (id === undefined) throw new UsageError('keys create needs --id NAME');
      const { createKeyCommand, takenIds, writeKeyCommand } = await import('./keys/create.ts');
      const given = { ...(expires !== undefined && { expires }), ...(team !== undefined && { team }) };
      const request = { id, ...(provider && { providers: provider }), ...given };
      if (write) return writeKeyCommand(request, { ...world, dir });
      return createKeyCommand({ ...request, ...world, taken: await takenIds(dir, world.env) });
    },
  },
  'keys list': {
    usage: 'keys list [--configs DIR] [--format table|json]',
    help: 'List the keys with their permissions, teams, limits and budgets, never a key itself',
    async run(args, world) {
      const options = { ...configs, format: { type: 'string', default: 'table' } } as const;
      const { configs: dir, format } = parse(args, options).values;
      const { listKeysCommand } = await import('./keys/list.ts');
      return listKeysCommand({ ...world, dir, format: oneOf('format', format, ['table', 'json']) });
    },
  },
  'keys rotate': {
    usage: 'keys rotate --id NAME [--configs DIR] [--overlap 7d]',
    help: 'Replace a key by a new one in keys.yaml; the previous key stays valid for the overlap (default 7d)',
    async run(args, world) {
      const options = { ...configs, id: { type: 'string' }, overlap: { type: 'string', default: '7d' } } as const;
      const { id, overlap, configs: dir } = parse(args, options).values;
      if (id === undefined) throw new UsageError('keys rotate needs --id NAME');
      const { rotateKeyCommand } = await import('./keys/rotate.ts');
      return rotateKeyCommand({ id, overlap }, { ...world, dir });
    },
  },
  'keys revoke': {
    usage: 'keys revoke --id NAME [--configs DIR]',
    help: 'Remove a key from keys.yaml; everything else in the file stays unchanged',
    async run(args, world) {
      const { id, configs: dir } = parse(args, { ...configs, id: { type: 'string' } }).values;
      if (id === undefined) throw new UsageError('keys revoke needs --id NAME');
      const { revokeKeyCommand } = await import('./keys/revoke.ts');
      return revokeKeyCommand(id, { ...world, dir });
    },
  },
  version: {
    usage: 'version',
    alone: true,
    help: 'Print the version',
    async run(args, { out }) {
      parse(args, {});
      const { version } = await import('../kernel/version.ts');
      out(`${version().version}\n`);
      return 0;
    },
  },
});

const CREATE = {
  ...configs,
  id: { type: 'string' },
  provider: { type: 'string', multiple: true },
  team: { type: 'string' },
  expires: { type: 'string' },
  write: { type: 'boolean', default: false },
} as const satisfies FlagTable;
