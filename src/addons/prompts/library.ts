import type { PromptFile } from '../../../schemas/types.generated.ts';
import { compilePartials, compilePrompt, type CompiledPrompt, type CompiledVersion } from './compile.ts';
import { PromptRenderer } from './rendered.ts';

/** `summary`, `summary@3`, `summary@production`. */
interface PromptReference {
  readonly id: string;
  /** A number or a label; undefined: not given. */
  readonly selector: string | undefined;
}

const REFERENCE = /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?:@([A-Za-z0-9][A-Za-z0-9._-]{0,63}))?$/;

/** Undefined for text that is no reference. */
export function readReference(text: string): PromptReference | undefined {
  const [, id, selector] = REFERENCE.exec(text) ?? [];
  return id === undefined ? undefined : { id, selector };
}

/** Stands for the version with the highest number. */
export const LATEST = 'latest';

/** A version by number or label; undefined where the prompt has none. */
export function versionOf(
  { versions, labels }: Pick<CompiledPrompt, 'versions' | 'labels'>,
  selector: string | number,
): CompiledVersion | undefined {
  if (selector === LATEST) return [...versions.values()].at(-1);
  const number = /^[0-9]+$/.test(String(selector)) ? Number(selector) : labels.get(String(selector));
  return number === undefined ? undefined : versions.get(number);
}

export class PromptLibrary {
  readonly prompts: ReadonlyMap<string, CompiledPrompt>;
  readonly #renderers = new WeakMap<CompiledVersion, PromptRenderer>();

  constructor(files: ReadonlyMap<string, PromptFile>, partials: ReadonlyMap<string, string>) {
    const compiled = compilePartials(partials);
    this.prompts = new Map([...files].map(([id, file]) => [id, compilePrompt(id, file, compiled)]));
  }

  /** The same object for each request, which keeps the compiled checks of the variables. */
  rendererOf(version: CompiledVersion): PromptRenderer {
    let renderer = this.#renderers.get(version);
    if (!renderer) this.#renderers.set(version, (renderer = new PromptRenderer(version)));
    return renderer;
  }
}
