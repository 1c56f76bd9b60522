import { isObject, type Operation } from '../../../../core/kernel/index.ts';
import type { Edit } from '../../../../plugin/index.ts';

interface Injection {
  readonly format: Operation['format']['name'];
  readonly text: string;
  readonly place: 'before' | 'after';
}

type Change = Pick<Edit, 'path' | 'value'>;
type Body = Readonly<Record<string, unknown>>;

/** The change of a body whose system prompt has no such text yet. Undefined: it has. */
export function injectedPrompt(body: Body, injection: Injection): Change | undefined {
  const { format } = injection;
  if (format === 'gemini') return ofGemini(body, injection);
  if (format === 'anthropic-messages') return joined(['system'], body['system'], injection);
  if (format === 'openai-responses') return joined(['instructions'], body['instructions'], injection);
  return ofMessages(body, injection);
}

const SYSTEM: ReadonlySet<unknown> = new Set(['system', 'developer']);

function ofMessages(body: Body, injection: Injection): Change | undefined {
  const messages = Array.isArray(body['messages']) ? (body['messages'] as unknown[]) : [];
  const at = messages.findIndex((one) => isObject(one) && SYSTEM.has(one['role']));
  const message = messages[at];
  if (isObject(message)) return joined(['messages', String(at), 'content'], message['content'], injection);
  return { path: ['messages'], value: [{ role: 'system', content: injection.text }, ...messages] };
}

function ofGemini(body: Body, injection: Injection): Change | undefined {
  const name = body['system_instruction'] === undefined ? 'systemInstruction' : 'system_instruction';
  const prompt = body[name];
  // ProtoJSON lets a text stand for a content, and one part for a list of one.
  const parts = typeof prompt === 'string' ? [{ text: prompt }] : isObject(prompt) ? (prompt['parts'] ?? []) : [];
  const change = joined([], Array.isArray(parts) ? parts : [parts], injection);
  return change && { path: [name], value: { ...(isObject(prompt) && prompt), parts: change.value } };
}

/** A text, or a list of parts, with one more. */
function joined(path: readonly string[], prompt: unknown, { format, text, place }: Injection): Change | undefined {
  const inOrder = <T>(own: T, added: T): readonly T[] => (place === 'before' ? [added, own] : [own, added]);
  if (Array.isArray(prompt)) {
    const parts = prompt as readonly unknown[];
    if (parts.some((part) => isObject(part) && part['text'] === text)) return undefined;
    const part = format === 'gemini' ? { text } : { type: 'text', text };
    return { path, value: inOrder(parts, [part]).flat() };
  }
  const own = typeof prompt === 'string' ? prompt : '';
  if (own === text || own.split('\n\n').includes(text) || own.startsWith(`${text}\n\n`) || own.endsWith(`\n\n${text}`))
    return undefined;
  return { path, value: own === '' ? text : inOrder(own, text).join('\n\n') };
}
