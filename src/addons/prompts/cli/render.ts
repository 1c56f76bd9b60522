import { readFile } from 'node:fs/promises';
import { GatewayError } from '../../../plugin/index.ts';
import { isObject } from '../../../core/kernel/index.ts';
import type { CompiledVersion } from '../compile.ts';
import type { PromptRenderer } from '../rendered.ts';
import { CommandEnd, findReference, withPrompts, type PromptsOptions } from './read.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';

interface RenderOptions extends PromptsOptions {
  /** `summary@3` */
  readonly reference: string;
  /** File with the variables as JSON; `-`: standard input. Undefined: the examples and defaults of the variables. */
  readonly variables: string | undefined;
  readonly input: () => Promise<Buffer>;
}

/** Text that a rendered prompt may have here. */
const BUDGET = 16 * 1024 * 1024;

export function renderPromptCommand(options: RenderOptions): Promise<0 | 1 | 2> {
  const { reference, variables, out } = options;
  return withPrompts(options, async (library) => {
    const { version } = findReference(library, reference);
    const given = variables === undefined ? examplesOf(version) : await variablesIn(variables, options);
    out(`${JSON.stringify(rendered(library.rendererOf(version), given), null, 2)}\n`);
  });
}

function rendered(renderer: PromptRenderer, given: Readonly<Record<string, unknown>>): object {
  try {
    return renderer.render(given, BUDGET).fields;
  } catch (error) {
    throw error instanceof GatewayError ? new CommandEnd(`${error.message}\n`) : error;
  }
}

const examplesOf = ({ variables }: CompiledVersion): Record<string, unknown> =>
  Object.fromEntries([...variables].flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]])));

async function variablesIn(path: string, { input }: Pick<RenderOptions, 'input'>): Promise<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(path === '-' ? String(await input()) : await readFile(path, 'utf8'));
  } catch (error) {
    throw new CommandEnd(`${path}: ${messageOf(error)}\n`);
  }
  if (!isObject(value)) throw new CommandEnd(`${path}: the variables must be a JSON object\n`);
  return value;
}
