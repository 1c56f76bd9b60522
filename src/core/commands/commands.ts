import { parseDuration, readMoment } from '../../plugin/units.ts';
import { configs, oneOf, parse, required, UsageError, type Command, type Options, type World } from './arguments.ts';
import { AGENT_CONFIG_HELP, EXPLAIN_HELP, IMPORT_HELP, SERVE_HELP, TEST_HELP } from './help.ts';
import { ledgerCommands } from '../../addons/budgets/cli/ledger/commands.ts';
import { priceCommands } from '../../addons/budgets/cli/prices/commands.ts';
import { promptCommands } from '../../addons/prompts/cli/commands.ts';
import { stateCommands } from '../../addons/budgets/cli/state/commands.ts';

export { UsageError, type Command, type World } from './arguments.ts';

// Commands load their modules when called: most need a small part of the gateway, and `version` needs none.

/** The commands by name. */
export const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    'init',
    {
      usage: 'init [DIR]',
      help: 'Create a settings folder and a gateway key to start with. Overwrites nothing. Default: configs',
      async run(args, world) {
        const { positionals } = parse(args, {}, 1);
        const { initCommand } = await import('./init.ts');
        return initCommand(positionals[0] ?? 'configs', world);
      },
    },
  ],
  [
    'import',
    {
      ...IMPORT_HELP,
      async run(args, world) {
        const { values, positionals } = parse(args, { to: { type: 'string' } }, 33);
        const [name = '', ...paths] = positionals;
        const { importCommand, KINDS } = await import('../../addons/import/import.ts');
        const kind = Object.keys(KINDS).find((one): one is keyof typeof KINDS => one === name);
        if (kind === undefined) throw new UsageError('import needs portkey or litellm, then a FILE');
        if (paths.length === 0) throw new UsageError(`import ${kind} needs a FILE`);
        if (values.to === undefined) throw new UsageError('import needs --to DIR, the new settings folder');
        return importCommand({ ...world, kind, paths, dir: values.to });
      },
    },
  ],
  [
    'serve',
    {
      ...SERVE_HELP,
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
  ],
  [
    'validate',
    {
      usage: 'validate [--configs DIR] [--format pretty|json|github]',
      help: 'Check the settings without starting. Exit code 0: valid, 1: errors, 2: wrong usage',
      async run(args, { env, out }) {
        const options = { ...configs, format: { type: 'string', default: 'pretty' } } as const;
        const { configs: dir, format } = parse(args, options).values;
        const known = oneOf('format', format, ['pretty', 'json', 'github']);
        const [{ validateCommand }, { checkSettings }, { validateTests }] = await Promise.all([
          import('./validate.ts'),
          import('../../addons/explain/explain/check-settings.ts'),
          import('../../addons/config-tests/check-tests.ts'),
        ]);
        return validateCommand({
          dir,
          format: known,
          env,
          out,
          passes: [(_, loaded) => checkSettings(loaded, dir), validateTests],
        });
      },
    },
  ],
  [
    'ready',
    {
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
  ],
  [
    'doctor',
    {
      usage: 'doctor [--configs DIR] [--offline | --probe] [--timeout 5s] [--json]',
      help: 'Check settings, credentials, the way to the providers, ports, clock, limits and versions. Sends nothing to models\n--offline  connect to nothing but this machine\n--probe  prove each credential with a list of models or a count of tokens; nothing is billed\nExit code 0: nothing is wrong, perhaps with warnings, 1: something is, 2: wrong usage',
      async run(args, world) {
        const flag = { type: 'boolean', default: false } as const;
        const options = {
          ...configs,
          offline: flag,
          probe: flag,
          json: flag,
          timeout: { type: 'string', default: '5s' },
        } as const;
        const { configs: dir, offline, probe: probes, json, timeout } = parse(args, options).values;
        if (!/^[1-9]\d{0,4}m?s$/.test(timeout))
          throw new UsageError(`--timeout must be a time such as 5s, not ${timeout}`);
        if (offline && probes) throw new UsageError('--probe sends calls, and --offline sends none: give one of them');
        const { doctorCommand } = await import('../../addons/doctor/doctor.ts');
        return doctorCommand({ ...world, dir, offline, probes, json, timeoutMs: parseDuration(timeout) });
      },
    },
  ],
  [
    'explain',
    {
      ...EXPLAIN_HELP,
      run: (args, world) => explain(args, world),
    },
  ],
  [
    'test',
    {
      ...TEST_HELP,
      run: (args, world) => test(args, world),
    },
  ],
  [
    'schema',
    {
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
  ],
  [
    'keys create',
    {
      usage:
        'keys create --id NAME [--configs DIR] [--team NAME] [--provider @SLUG]... [--expires MOMENT|90d] [--write]',
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
  ],
  [
    'keys list',
    {
      usage: 'keys list [--configs DIR] [--format table|json]',
      help: 'List the keys with their permissions, teams, limits and budgets, never a key itself',
      async run(args, world) {
        const options = { ...configs, format: { type: 'string', default: 'table' } } as const;
        const { configs: dir, format } = parse(args, options).values;
        const { listKeysCommand } = await import('./keys/list.ts');
        return listKeysCommand({ ...world, dir, format: oneOf('format', format, ['table', 'json']) });
      },
    },
  ],
  [
    'keys rotate',
    {
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
  ],
  [
    'keys revoke',
    {
      usage: 'keys revoke --id NAME [--configs DIR]',
      help: 'Remove a key from keys.yaml; everything else in the file stays unchanged',
      async run(args, world) {
        const { id, configs: dir } = parse(args, { ...configs, id: { type: 'string' } }).values;
        if (id === undefined) throw new UsageError('keys revoke needs --id NAME');
        const { revokeKeyCommand } = await import('./keys/revoke.ts');
        return revokeKeyCommand(id, { ...world, dir });
      },
    },
  ],
  ...promptCommands,
  ...priceCommands,
  ...stateCommands,
  ...ledgerCommands,
  [
    'admin',
    {
      usage: `admin RESOURCE ACTION [ID] [--url URL] [--token TOKEN | --token-file FILE] [--output table|json] [OPTIONS]
admin help`,
      help: 'Call the admin API of a running gateway: its keys, teams, budgets, usage, ledger, audit and tokens. `admin help`\nlists the calls. GATEHOUSE_ADMIN_URL and GATEHOUSE_ADMIN_TOKEN stand for --url and --token',
      async run(args, world) {
        const { adminCommand } = await import('../../addons/admin/cli/command.ts');
        return adminCommand(args, world);
      },
    },
  ],
  [
    'agent-config',
    {
      ...AGENT_CONFIG_HELP,
      async run(args, world) {
        const { values, positionals } = parse(args, AGENT, 1);
        const name = required(positionals[0], 'agent-config needs an agent: codex, claude, gemini or opencode');
        const { url, model, 'key-env': keyEnv } = values;
        if (!/^https?:\/\/[^\s/'"]+(?:\/[^\s'"]*)?$/.test(url))
          throw new UsageError(`--url must be an http URL, not ${url}`);
        if (!/^[A-Za-z_]\w*$/.test(keyEnv))
          throw new UsageError(`--key-env must be the name of a variable, not ${keyEnv}`);
        if (model !== undefined && /[\s'"\\]/.test(model))
          throw new UsageError(`--model must be the name of a model, not ${model}`);
        const { agentConfigCommand } = await import('../../addons/agent-config/print.ts');
        return agentConfigCommand(name, { url: url.replace(/\/+$/, ''), keyEnv, model }, world);
      },
    },
  ],
  [
    'simulator',
    {
      usage: 'simulator [--port PORT]',
      help: 'Run the simulated upstream alone',
      async run(args, { out }) {
        const { port } = parse(args, { port: { type: 'string', default: '8789' } }).values;
        if (!/^\d{1,5}$/.test(port) || Number(port) > 65535)
          throw new UsageError(`--port must be a TCP port, not ${port}`);
        const { simulatorCommand } = await import('../../addons/simulator/cli/simulator.ts');
        return simulatorCommand({ port: Number(port), out });
      },
    },
  ],
  [
    'version',
    {
      usage: 'version',
      help: 'Print the version',
      async run(args, { out }) {
        parse(args, {});
        const { version } = await import('../kernel/version.ts');
        out(`${version().version}\n`);
        return 0;
      },
    },
  ],
]);

const EXPLAIN = {
  ...configs,
  request: { type: 'string' },
  header: { type: 'string', multiple: true, default: [] },
  key: { type: 'string' },
  method: { type: 'string' },
  path: { type: 'string' },
  draw: { type: 'string', multiple: true, default: [] },
  at: { type: 'string' },
  json: { type: 'boolean', default: false },
  color: { type: 'string', default: 'auto' },
} as const satisfies Options;

async function explain(args: string[], world: World): Promise<number> {
  const { configs: dir, request, header, draw, at, color, ...flags } = parse(args, EXPLAIN).values;
  const when = oneOf('color', color, ['auto', 'always', 'never']);
  const colour = when === 'always' || (when === 'auto' && showsColour(world));
  if (request === undefined) throw new UsageError('explain needs --request FILE');
  const draws = draw.map(readDraw);
  const moment = at === undefined ? undefined : readAt(at);
  const { explainCommand } = await import('../../addons/explain/cli/explain.ts');
  return explainCommand({ ...world, ...flags, configs: dir, request, headers: header, draws, at: moment, colour });
}

const showsColour = ({ terminal, env }: World): boolean =>
  terminal !== undefined && !env['NO_COLOR'] && env['TERM'] !== 'dumb';

function readDraw(text: string): number {
  if (/^(0?\.\d+|0)$/.test(text)) return Number(text);
  throw new UsageError(`--draw must be a number from 0 to less than 1, not ${text}`);
}

function readAt(text: string): number {
  const moment = readMoment(text);
  if (moment !== undefined) return moment;
  throw new UsageError(`--at must be a moment such as 2027-01-01T00:00:00Z, not ${text}`);
}

const TEST = {
  filter: { type: 'string' },
  bail: { type: 'boolean', default: false },
  reporter: { type: 'string', default: 'pretty' },
  watch: { type: 'boolean', default: false },
} as const satisfies Options;

async function test(args: string[], world: World): Promise<number> {
  const { values, positionals } = parse(args, TEST, 1);
  const { filter, bail, watch } = values;
  const reporter = oneOf('reporter', values.reporter, ['pretty', 'junit', 'github']);
  if (watch && reporter !== 'pretty') throw new UsageError('--watch works only with --reporter pretty');
  // Loaded here: only this command needs a gateway with fake upstreams.
  const [{ testCommand, watchTestsCommand }, { runCase }, { stopSignal }, { systemClock }] = await Promise.all([
    import('../../addons/config-tests/cli/test.ts'),
    import('../../addons/config-tests/runner.ts'),
    import('./stop-signals.ts'),
    import('../../plugin/index.ts'),
  ]);
  const color = showsColour(world);
  const options = { ...world, dir: positionals[0] ?? 'configs', reporter, filter, bail, color, runCase };
  if (!watch) return testCommand(options);
  const stopped = stopSignal(process, systemClock, () => process.exit(1));
  return watchTestsCommand(options, stopped);
}

const AGENT = {
  url: { type: 'string', default: 'http://127.0.0.1:8787' },
  'key-env': { type: 'string', default: 'GATEHOUSE_API_KEY' },
  model: { type: 'string' },
} as const satisfies Options;

const CREATE = {
  ...configs,
  id: { type: 'string' },
  provider: { type: 'string', multiple: true },
  team: { type: 'string' },
  expires: { type: 'string' },
  write: { type: 'boolean', default: false },
} as const satisfies Options;
