import type { Explanation, FieldSource, PromptExplanation } from '../../explanation/explanation.ts';
import { isObject } from '../../../../core/kernel/index.ts';
import type { Edit } from '../../../../plugin/index.ts';
import { type JsonPath, valueAt } from '../../../../core/settings/schema/pointer.ts';
import type { DryRun } from '../../../../core/dry-run/dry-run.ts';
import { inFile, ownSource } from './places.ts';

/** Whether the prompt of this request made the edit. */
export const isOfPrompt = ({ exchange: { prompt } }: DryRun, { source }: Pick<Edit, 'source'>): boolean =>
  prompt !== undefined && source === `prompts/${prompt.id}.yaml ${prompt.version}`;

/** The line of the prompt's file that sets a field of the chat request. */
export function promptSource(seen: DryRun, [key = '', ...inner]: JsonPath): FieldSource | undefined {
  const version = versionOf(seen);
  if (!version) return undefined;
  if (key === 'messages' && version['text'] !== undefined) return sourceAt(seen, ['text']);
  const isParameter = valueAt(version, ['parameters', key]) !== undefined;
  return sourceAt(seen, isParameter ? ['parameters', key, ...inner] : Object.hasOwn(version, key) ? [key] : []);
}

export function messageSource(seen: DryRun, index: number): FieldSource | undefined {
  const version = versionOf(seen);
  return version && sourceAt(seen, version['text'] === undefined ? ['messages', index] : ['text']);
}

export function describePrompt(seen: DryRun): Pick<Explanation, 'prompt'> {
  const { prompt: used, request, config } = seen.exchange;
  const version = versionOf(seen);
  if (!used || !version) return {};
  const place = sourceAt(seen, []);
  const pinned = config?.prompts?.has(used.id) ? ownSource(seen, 'config', ['prompts', used.id]) : undefined;
  const prompt: PromptExplanation = {
    id: used.id,
    version: used.version,
    digest: typeof version['digest'] === 'string' ? version['digest'] : undefined,
    at: place.at,
    asked: request.params['prompt'] ?? '',
    ...(pinned && { pinned }),
    messages: messagesOf(seen),
  };
  return { prompt };
}

function messagesOf(seen: DryRun): PromptExplanation['messages'] {
  const { body } = seen.exchange.request;
  const edit = body?.edits.findLast(
    ({ path, source }) => path.join('.') === 'messages' && isOfPrompt(seen, { source }),
  );
  if (!edit || !Array.isArray(edit.value)) return [];
  return edit.value.filter(isObject).map((message, index) => ({
    role: String(message['role']),
    content: message['content'],
    at: sourceAt(seen, versionOf(seen)?.['text'] === undefined ? ['messages', index] : ['text']).at,
  }));
}

function versionOf({ exchange: { prompt }, loaded }: DryRun): Readonly<Record<string, unknown>> | undefined {
  const path = ['versions', String(prompt?.version)];
  const version = prompt && valueAt(loaded.valueOf(`prompts/${prompt.id}.yaml`), path);
  return isObject(version) ? version : undefined;
}

function sourceAt(seen: DryRun, path: JsonPath): Extract<FieldSource, { kind: 'settings' }> {
  const { id = '', version = 0 } = seen.exchange.prompt ?? {};
  return inFile(seen.loaded, `prompts/${id}.yaml`, ['versions', String(version), ...path]);
}
