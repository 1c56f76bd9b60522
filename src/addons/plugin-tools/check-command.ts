import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Output } from '../../core/commands/terminal/output.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { isObject } from '../../core/kernel/index.ts';
import type { CheckedPlugin } from './check-messages.ts';
import { runCheck, type CheckLimits } from './run-check.ts';

/** `gatehouse plugin check`. Exit code 0: the plugins follow all rules; 1: they break some; 2: wrong usage. */
export async function checkCommand(
  {
    path,
    optionsFile,
    json,
  }: { readonly path: string; readonly optionsFile: string | undefined; readonly json: boolean },
  { out, err }: Output,
  limits?: CheckLimits,
): Promise<0 | 1 | 2> {
  try {
    const options = optionsFile === undefined ? {} : await readOptions(optionsFile);
    const file = await moduleAt(resolve(path));
    const plugins = await runCheck({ file, options }, err, limits);
    out(json ? `${JSON.stringify({ plugins: plugins.map(shown) }, undefined, 2)}\n` : inWords(plugins));
    return plugins.every(({ findings }) => findings.length === 0) ? 0 : 1;
  } catch (error) {
    err(`gatehouse: ${messageOf(error)}\n`);
    return 2;
  }
}

async function readOptions(file: string): Promise<Readonly<Record<string, unknown>>> {
  const options: unknown = parse(await readFile(file, 'utf8'));
  if (!isObject(options)) throw new Error(`${file}: options are a mapping of names and values`);
  return options;
}

/** The module itself, or what the package in the folder exports. */
async function moduleAt(path: string): Promise<string> {
  if (!(await stat(path)).isDirectory()) return path;
  const manifest = join(path, 'package.json');
  const text: unknown = JSON.parse(await readFile(manifest, 'utf8'));
  const name = isObject(text) ? text['name'] : undefined;
  const { resolve: find } = createRequire(manifest);
  // By its own name a package is found by its `exports`.
  return typeof name === 'string' && isObject(text) && text['exports'] !== undefined ? find(name) : find(path);
}

const shown = ({ name, level, findings }: CheckedPlugin) => ({ name, level, findings });

const inWords = (plugins: readonly CheckedPlugin[]): string =>
  plugins
    .map(({ name, level, findings }) => {
      const of = level === undefined ? name : `${name} (${level})`;
      const rows = findings.map(
        ({ rule, place, message, remedy }) => `  ✗ ${rule}  ${place}: ${message}\n      ${remedy}\n`,
      );
      return rows.length === 0 ? `✓ ${of} follows all rules\n` : `${of}\n${rows.join('')}`;
    })
    .join('');
