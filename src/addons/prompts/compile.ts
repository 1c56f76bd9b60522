import { createHash } from 'node:crypto';
import type { PromptFile, PromptMessage, PromptVariable, PromptVersion } from '../../../schemas/types.generated.ts';
import type { ChatPart } from './media.ts';
import { onlyVariable, parseTemplate, partialsIn, type Template } from './template.ts';

export type CompiledPart =
  | { readonly kind: 'template'; readonly template: Template; readonly fields: ChatPart }
  | { readonly kind: 'media'; readonly variable: string }
  | { readonly kind: 'literal'; readonly part: ChatPart };

export interface CompiledMessage {
  /** Role, name, calls: every field but the content, as written. */
  readonly fields: Omit<PromptMessage, 'content'>;
  /** A template for content that is text; undefined for a message without content. */
  readonly content: Template | readonly CompiledPart[] | undefined;
}

export interface CompiledVersion {
  readonly number: number;
  readonly file: PromptVersion;
  readonly messages: readonly CompiledMessage[];
  readonly variables: ReadonlyMap<string, PromptVariable>;
  readonly partials: ReadonlyMap<string, Template>;
}

export interface CompiledPrompt {
  readonly id: string;
  readonly description: string | undefined;
  /** In ascending order. */
  readonly versions: ReadonlyMap<number, CompiledVersion>;
  readonly labels: ReadonlyMap<string, number>;
}

export type Partials = ReadonlyMap<string, Template>;

export const compilePartials = (texts: ReadonlyMap<string, string>): Partials =>
  new Map([...texts].map(([name, text]) => [name, parseTemplate(text)]));

/** Compiles a file with mistakes too: the checks read the result. */
export function compilePrompt(id: string, file: PromptFile, partials: Partials): CompiledPrompt {
  const versions = Object.entries(file.versions)
    .map(([number, version]) => compileVersion(Number(number), version, partials))
    .toSorted((a, b) => a.number - b.number);
  return {
    id,
    description: file.description,
    versions: new Map(versions.map((version) => [version.number, version])),
    labels: new Map(Object.entries(file.labels ?? {})),
  };
}

export function compileVersion(number: number, file: PromptVersion, partials: Partials): CompiledVersion {
  const variables = new Map(Object.entries(file.variables ?? {}));
  const written = file.messages ?? (file.text === undefined ? [] : [{ role: 'user' as const, content: file.text }]);
  const messages = written.map(({ content, ...fields }): CompiledMessage => ({
    fields,
    content: content === undefined ? undefined : compileContent(content, variables),
  }));
  return { number, file, messages, variables, partials: reachable(messages, partials) };
}

function compileContent(
  content: NonNullable<PromptMessage['content']>,
  variables: ReadonlyMap<string, PromptVariable>,
): Template | readonly CompiledPart[] {
  if (typeof content !== 'string') return content.map((part) => compilePart(part, variables));
  const whole = compilePart(content, variables);
  return whole.kind === 'template' ? whole.template : [whole];
}

function compilePart(
  part: string | { readonly [key: string]: unknown },
  variables: ReadonlyMap<string, PromptVariable>,
): CompiledPart {
  if (typeof part !== 'string' && (part['type'] !== 'text' || typeof part['text'] !== 'string'))
    return { kind: 'literal', part };
  const template = parseTemplate(typeof part === 'string' ? part : String(part['text']));
  const name = onlyVariable(template);
  if (name !== undefined && variables.get(name)?.media) return { kind: 'media', variable: name };
  return { kind: 'template', template, fields: typeof part === 'string' ? { type: 'text' } : part };
}

/** The templates of a message, with their paths inside `content`. */
export function* templatesOf({ content }: CompiledMessage): Iterable<{ template: Template; path: readonly number[] }> {
  if (content === undefined) return;
  if ('tokens' in content) return void (yield { template: content, path: [] });
  for (const [index, part] of content.entries())
    if (part.kind === 'template') yield { template: part.template, path: [index] };
}

/** The partials that templates name, and those that these name. Missing ones are left out. */
function reachable(messages: readonly CompiledMessage[], partials: Partials): Partials {
  const found = new Map<string, Template>();
  const visit = ({ tokens }: Template): void => {
    for (const { name } of partialsIn(tokens)) {
      const partial = partials.get(name);
      if (!partial || found.has(name)) continue;
      found.set(name, partial);
      visit(partial);
    }
  };
  for (const message of messages) for (const { template } of templatesOf(message)) visit(template);
  return found;
}

/**
 * The digest that `gatehouse prompts release` writes: of a version with the text of every partial that it uses. The order of keys and the
 * layout of the file do not matter; `digest` itself and `note`, which is never sent, do not count.
 */
export function digestOfVersion({ file: { digest: _, note: __, ...content }, partials }: CompiledVersion): string {
  const texts = Object.fromEntries([...partials].map(([name, { text }]) => [name, text]));
  return `sha256:${createHash('sha256')
    .update(JSON.stringify(ordered({ content, partials: texts })))
    .digest('hex')}`;
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, ordered(inner)]);
}
