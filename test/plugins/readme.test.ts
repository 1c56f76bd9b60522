import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { builtinPlugins } from '../../plugins/index.ts';
import { checkSettings } from '../../src/core/dry-run/check-settings.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';
import { writeSettings } from '../support/gateway.ts';
import { documentedPlugins, readmeOf, regenerate } from './readme.ts';

const byName = <P extends { readonly name: string }>(plugins: readonly P[]) =>
  plugins.map((plugin) => [plugin.name, plugin] as const);

/** YAML examples by the settings file their first line names, as in `# configs/gateway/NAME.yaml`. */
function examplesOf(readme: string): readonly { readonly path: string; readonly text: string }[] {
  return [...readme.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => {
    const path = /^# configs\/(\S+)\.yaml$/m.exec(text)?.[1];
    if (path === undefined) throw new Error(`an example does not say which file it is of:\n${text}`);
    return { path, text };
  });
}

/** What is wrong with a settings folder that has this file, beside a simulator in its catalog. */
async function problemsOf({ path, text }: { path: string; text: string }): Promise<readonly unknown[]> {
  const id = /^gateway\/(.+)$/.exec(path)?.[1];
  const folder = writeSettings({
    ...(id === undefined ? { [path]: text } : { gateway: { [id]: text } }),
    ...(path !== 'catalog' && { catalog: { providers: [{ slug: 'simulator', provider: 'simulator' }] } }),
  });
  try {
    const loaded = await loadSettings(folder, {
      env: { AUTH_CALL_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}` },
    });
    await checkSettings(loaded, folder);
    return loaded.diagnostics;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the README of a plugin', () => {
  it.each(byName(documentedPlugins))('tells level, names and options of %s as the plugin has them', (_, plugin) => {
    const readme = readFileSync(readmeOf(plugin), 'utf8');
    // Anew with `node test/plugins/readme.ts`.
    expect(readme).toBe(regenerate(readme, plugin));
  });

  it.each(byName(documentedPlugins))('shows an example for %s', (_, plugin) => {
    expect(examplesOf(readFileSync(readmeOf(plugin), 'utf8')).length).toBeGreaterThan(0);
  });

  it.each(
    byName(builtinPlugins).flatMap(([name, plugin]) =>
      examplesOf(readFileSync(readmeOf(plugin), 'utf8')).map((example, index) => [name, index + 1, example] as const),
    ),
  )('%s, example %i: is a settings file that loads without a complaint', async (_, __, example) => {
    expect(parse(example.text)).not.toBeNull();
    expect(await problemsOf(example)).toEqual([]);
  });

  it('complains of an example that is wrong', async () => {
    expect(await problemsOf({ path: 'server', text: 'chains:\n  request: [metadata, routes]\n' })).toMatchObject([
      { line: 2, column: 23, message: 'unknown plugin "routes"' },
    ]);
  });

  it.each([...byName(builtinPlugins)])(
    'of %s leads only to files that are there, and so does the index',
    (_, plugin) => {
      for (const file of [readmeOf(plugin), join(import.meta.dirname, '../../plugins/README.md')]) {
        for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g))
          expect(existsSync(join(file, '..', target)), `${target} in ${file}`).toBe(true);
      }
    },
  );
});
