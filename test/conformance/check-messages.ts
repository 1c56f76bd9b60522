/** What a recording says the model answered, against the Messages reply a client got: rules the shared checker has none for. */
import { isDeepStrictEqual } from 'node:util';
import { foldMessage, type Message } from './fold-message.ts';
import type { Answer, Json } from './recordings.ts';

/** The expected reply of one choice, as the shared checker derives it from a recording. */
export interface Expected {
  readonly status: number;
  readonly errorMessage?: string;
  readonly streamError?: string;
  readonly blocked?: string;
  /** The recording itself has no end. */
  readonly unfinished?: boolean;
  readonly texts: readonly string[];
  readonly thinking: string;
  readonly tools: readonly { readonly name: string; readonly args: unknown; readonly argsUnknown?: boolean }[];
  /** Allowed stop reasons. */
  readonly stop: readonly string[];
  readonly usage?: { readonly input: readonly number[]; readonly cached: number; readonly output: readonly number[] };
  /** Further parts that may be told as text between. */
  readonly moreText?: boolean;
}

export interface Finding {
  readonly rule: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

const short = (value: unknown): unknown =>
  typeof value === 'string' && value.length > 200 ? `${value.slice(0, 200)}…` : value;

export function checkMessages(expected: Expected, answer: Answer, thinkingAsked: boolean): Finding[] {
  const findings: Finding[] = [];
  const say = (rule: string, ok: boolean, wanted: unknown, actual: unknown): void => {
    if (!ok) findings.push({ rule, expected: short(wanted), actual: short(actual) });
  };
  const { message, error, faults } = read(answer);
  for (const fault of faults) say('stream', false, 'a stream as the API has it', fault);
  if (expected.status >= 400) {
    say('error.status', answer.status === expected.status, expected.status, answer.status);
    say(
      'error.message',
      textOf(error?.['message']).includes(expected.errorMessage ?? ''),
      expected.errorMessage,
      error,
    );
    say(
      'error.type',
      /_error$|^request_too_large$/.test(textOf(error?.['type'])),
      'one of the API’s types',
      error?.['type'],
    );
    return findings;
  }
  if (expected.streamError !== undefined) {
    say('stream_error', textOf(error?.['message']).includes(expected.streamError), expected.streamError, error);
    return findings;
  }
  if (expected.unfinished && error) return findings;
  say('status', answer.status === 200, 200, answer.status);
  say('no_error', error === undefined, undefined, error);
  if (!message) return findings;
  if (expected.blocked !== undefined) {
    say('blocked', message.stop_reason === 'refusal', 'refusal', message.stop_reason);
    return findings;
  }
  sayMessage(expected, message, { thinkingAsked, say });
  return findings;
}

interface Context {
  readonly thinkingAsked: boolean;
  readonly say: (rule: string, ok: boolean, wanted: unknown, actual: unknown) => void;
}

function sayMessage(expected: Expected, message: Message, { thinkingAsked, say }: Context): void {
  const { content, usage } = message;
  say('envelope', isEnvelope(message), 'a message of the API', { ...message, content: undefined });
  const text = joined(content, 'text', 'text');
  const whole = expected.texts.join('');
  say('text', expected.moreText ? inOrder(text, expected.texts) : text === whole, whole, text);
  const thinking = joined(content, 'thinking', 'thinking');
  say(
    'thinking',
    thinking === (thinkingAsked ? expected.thinking : ''),
    thinkingAsked ? expected.thinking : '',
    thinking,
  );
  const calls = content.filter(({ type }) => type === 'tool_use');
  say('tools.count', calls.length === expected.tools.length, expected.tools.length, calls.length);
  say(
    'tools.id',
    areIds(calls.map(({ id }) => id)),
    'unique ids the API takes',
    calls.map(({ id }) => id),
  );
  for (const [index, { name, args, argsUnknown }] of expected.tools.entries()) {
    const call = calls[index];
    say('tools.name', call?.['name'] === name, name, call?.['name']);
    if (!argsUnknown) say('tools.input', isDeepStrictEqual(call?.['input'], args), args, call?.['input']);
  }
  if (expected.stop.length > 0)
    say('stop_reason', expected.stop.includes(textOf(message.stop_reason)), expected.stop, message.stop_reason);
  if (!expected.usage) return;
  const { input, cached, output } = expected.usage;
  say('usage.input', input.includes(Number(usage['input_tokens'])), input, usage['input_tokens']);
  say(
    'usage.cached',
    Number(usage['cache_read_input_tokens'] ?? 0) === cached,
    cached,
    usage['cache_read_input_tokens'],
  );
  if (!expected.unfinished)
    say('usage.output', output.includes(Number(usage['output_tokens'])), output, usage['output_tokens']);
}

function inOrder(text: string, pieces: readonly string[]): boolean {
  let at = 0;
  return pieces.every((piece) => {
    const found = text.indexOf(piece, at);
    at = found + piece.length;
    return found >= 0;
  });
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const joined = (content: readonly Json[], type: string, key: string): string =>
  content.flatMap((block) => (block['type'] === type ? [textOf(block[key])] : [])).join('');

const isEnvelope = ({ id, type, role, model, usage }: Message): boolean =>
  textOf(id) !== '' && type === 'message' && role === 'assistant' && textOf(model) !== '' && typeof usage === 'object';

const areIds = (ids: readonly unknown[]): boolean =>
  new Set(ids).size === ids.length && ids.every((id) => /^[a-zA-Z0-9_-]+$/.test(textOf(id)));

interface Read {
  readonly message: Message | undefined;
  readonly error: Json | undefined;
  readonly faults: readonly string[];
}

function read({ sse, body }: Answer): Read {
  if (sse !== undefined) return foldMessage(sse);
  const json = body as Json;
  if (json['type'] !== 'error') return { message: json as unknown as Message, error: undefined, faults: [] };
  const faults = 'request_id' in json ? [] : ['an error without request_id'];
  return { message: undefined, error: json['error'] as Json, faults };
}
