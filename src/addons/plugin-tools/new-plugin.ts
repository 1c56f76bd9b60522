import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { calledAs, type Output } from '../../core/commands/terminal/output.ts';
import { version } from '../../core/kernel/version.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { auth } from './kinds/auth.ts';
import { cache } from './kinds/cache.ts';
import { exporter } from './kinds/exporter.ts';
import { guard } from './kinds/guard.ts';
import type { Kind, KindTexts } from './kinds/kind.ts';
import { middleware } from './kinds/middleware.ts';
import { text } from './kinds/text.ts';

const TEXTS: Readonly<Record<Kind, KindTexts>> = { middleware, text, guard, auth, cache, exporter };

interface NewPlugin {
  readonly name: string;
  readonly kind: Kind;
  /** JavaScript in place of TypeScript. */
  readonly js: boolean;
}

/** `gatehouse plugin new`. Exit code 0: the folder was written; 1: it was there, or cannot be written. */
export async function newPlugin(
  plugin: NewPlugin,
  { out, err, env }: Output & { readonly env: Readonly<Record<string, string | undefined>> },
): Promise<0 | 1> {
  try {
    // Fails for a folder that is there.
    await mkdir(plugin.name);
    for (const [name, content] of Object.entries(filesOf(plugin))) {
      const path = join(plugin.name, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content, { flag: 'wx' });
    }
  } catch (error) {
    err(`gatehouse: cannot write ${plugin.name}: ${messageOf(error)}\n`);
    return 1;
  }
  const { name, kind, js } = plugin;
  const command = calledAs(env);
  const options = TEXTS[kind].options === undefined ? '' : ` --options ${name}/options.json`;
  out(`Written to ${name}/. Next:

  node --test ${name}/index.test.${js ? 'js' : 'ts'}
  ${command} plugin check ${name}${options}
  ${command} test ${name}/settings
  ${command} serve --configs ${name}/settings

`);
  return 0;
}

/** The text of every file by its name in the folder of the plugin. */
export function filesOf({ name, kind, js }: NewPlugin): Readonly<Record<string, string>> {
  const texts = TEXTS[kind];
  const ext = js ? 'js' : 'ts';
  // `/*:` begins what only TypeScript has.
  const written = (content: string): string =>
    content
      .replaceAll(/\/\*:(.*?)\*\//g, js ? '' : '$1')
      .replaceAll(/\bNAME\b/g, name)
      .replaceAll(/\bEXT\b/g, ext);
  const files = {
    'package.json': `${JSON.stringify(manifest(name, ext), undefined, 2)}\n`,
    [`index.${ext}`]: texts.code,
    [`index.test.${ext}`]: testOf(texts),
    'README.md': readmeOf(texts),
    ...(texts.options !== undefined && { 'options.json': optionsJson(texts.options) }),
    'settings/server.yaml': SERVER + texts.chains,
    'settings/catalog.yaml': 'providers:\n  - { slug: simulator, provider: simulator }\n',
    ...(!texts.hasCallers && { 'settings/keys.yaml': KEYS }),
    'settings/gateway/default.yaml': CONFIG,
    'settings/gateway/default.test.yaml': `cases:\n${texts.cases}`,
  };
  return Object.fromEntries(Object.entries(files).map(([file, content]) => [file, written(content)]));
}

const manifest = (name: string, ext: string) => ({
  name,
  version: '0.1.0',
  type: 'module',
  exports: `./index.${ext}`,
  files: [`index.${ext}`],
  scripts: { test: 'node --test' },
  peerDependencies: { 'gatehouse-gateway': `>=${version().version}` },
});

/** Texts of this package, in the notation of JavaScript. */
const optionsJson = (options: string): string =>
  `${JSON.stringify(JSON.parse(options.replaceAll(/(\w+):/g, '"$1":').replaceAll("'", '"')), undefined, 2)}\n`;

const testOf = ({ test, uses, options }: KindTexts): string => `import assert from 'node:assert/strict';
import { ${['checkPlugin', ...uses].toSorted().join(', ')} } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.EXT';

// \`node --test\` and vitest run this file.
const { test } = await import(process.env['VITEST'] ? 'vitest' : 'node:test');
${options === undefined ? '' : `const options = ${options};\n`}
test('follows the rules of a plugin', { timeout: 60_000 }, async () => {
  assert.deepEqual(await checkPlugin(plugin${options === undefined ? '' : ', { options }'}), []);
});

${test}`;

const readmeOf = ({ does, options }: KindTexts): string => `# NAME

A plugin of Gatehouse. ${does}

| | |
|---|---|
| \`index.EXT\` | the plugin |
| \`index.test.EXT\` | its test: \`node --test NAME/index.test.EXT\`, or \`npx vitest run NAME\` |
| \`settings/\` | a gateway with the plugin and the simulator: \`npx gatehouse serve --configs NAME/settings\` |
| \`settings/gateway/default.test.yaml\` | its config case: \`npx gatehouse test NAME/settings\` |

Run these commands in the folder above, where \`gatehouse-gateway\` is installed.
\`npx gatehouse plugin check NAME${options === undefined ? '' : ' --options NAME/options.json'}\` checks the rules of a plugin.
\`npx gatehouse explain --configs NAME/settings\` shows the plugin in its chain.
`;

const SERVER = `listen: { port: 8787 }
status: { port: 9464 }
default_config: default
plugins: [../index.EXT]
`;

const KEYS = `keys:
  - { id: demo, key: "\${env:GATEHOUSE_API_KEY:-gatehouse-demo-key-0123456789}" }
`;

const CONFIG = `provider: "@simulator"
override_params: { model: demo }
`;
