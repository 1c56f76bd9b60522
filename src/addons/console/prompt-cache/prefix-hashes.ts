import { createHmac, hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Attempt, RequestBody, Sender } from '../../../core/kernel/index.ts';
import type { PromptPrefixes } from '../../../core/kernel/prompt-prefixes.ts';
import { parseJson } from '../../../formats/json/object.ts';
import { afterValue } from '../../../formats/json/members.ts';
import type { Secret } from '../../../plugin/index.ts';
import { CpuShare } from './cpu-share.ts';

/** Providers cache no prompt of less than 1,024 tokens, which have more bytes than this. */
const LEAST_BYTES = 2048;
/** Lengths at which prompts are compared, beside the ends of tools and system prompt. What comes behind the last one is not read. */
const LENGTHS = [512, 2048, 8192, 16_384, 32_768] as const;
const MOST_BYTES = LENGTHS.at(-1)!;
/** 96 bits as base64url. A part of a hash cannot be extended (SHA-256 could), and prompts with the same one do not occur. */
const SHOWN = 16;
const MAX_SORTED = 500;

/** Members of bodies, by what they are in the clients' APIs. */
const TOOLS = ['tools', 'functions'] as const;
const SYSTEM = ['system', 'instructions', 'systemInstruction', 'system_instruction'] as const;
const MESSAGES = ['messages', 'input', 'contents'] as const;

interface PromptParts {
  readonly tools: Buffer;
  readonly system: Buffer;
  readonly messages: Buffer;
}

const NOTHING = Buffer.alloc(0);

function partsOf(body: RequestBody): PromptParts {
  const part = (names: readonly string[]): Buffer => {
    const name = names.find((one) => body.has(one));
    return name === undefined ? NOTHING : body.bytesOf(name);
  };
  return { tools: part(TOOLS), system: part(SYSTEM), messages: part(MESSAGES) };
}

/** OpenAI's chat has the system prompt as its first message. */
function systemEnd({ system, messages }: PromptParts): number {
  if (system.length > 0) return 0;
  const text = messages.toString('latin1', 0, MOST_BYTES);
  const from = text.indexOf('{');
  const to = from < 0 ? 0 : afterValue(text, from);
  return /"role"\s*:\s*"(?:system|developer)"/.test(text.slice(from, to)) ? to : 0;
}

/** Makes the hashes of prompts. The texts are read once, and nothing of them is kept. */
export class PrefixHasher {
  readonly #key: Buffer;
  readonly #by: string;
  /** Clients repeat their tools: their keys are sorted once. By the hash of tools and system prompt. */
  readonly #sorted = new LRUCache<string, string>({ max: MAX_SORTED });

  /** @param secret of the store, so that the hashes of all its gateways are alike. Undefined: a key of the process */
  constructor(secret: Secret | undefined) {
    this.#key = secret
      ? createHmac('sha256', secret.reveal()).update('gatehouse prefixes of prompts').digest()
      : randomBytes(32);
    this.#by = this.#hash([Buffer.from('name')])
      .toString('base64url')
      .slice(0, 8);
  }

  prefixesOf(parts: PromptParts): PromptPrefixes {
    const { tools: ofTools, system, messages } = parts;
    const tools = Math.min(ofTools.length, MOST_BYTES);
    const head = Math.min(tools + system.length + systemEnd(parts), MOST_BYTES);
    const whole = Buffer.concat([ofTools, system, messages].map((part) => part.subarray(0, MOST_BYTES))).subarray(
      0,
      MOST_BYTES,
    );
    const ends = new Set([tools, head, ...LENGTHS].filter((end) => end > 0 && end <= whole.length));
    let before: Buffer = NOTHING;
    let from = 0;
    const prefixes = [...ends]
      .toSorted((one, other) => one - other)
      .map((end): [number, string] => {
        before = this.#hash([before, whole.subarray(from, end)]);
        from = end;
        return [end, before.toString('base64url').slice(0, SHOWN)];
      });
    return {
      by: this.#by,
      tools,
      system: head - tools,
      sorted: this.#sortedOf(prefixes.find(([end]) => end === head)?.[1] ?? '', whole.subarray(0, head), tools),
      prefixes,
    };
  }

  /** Each hash has the one before it, so that no byte is read twice. */
  #hash(parts: readonly Buffer[]): Buffer {
    return hash('sha256', Buffer.concat([this.#key, ...parts]), 'buffer');
  }

  #sortedOf(ofHead: string, head: Buffer, tools: number): string {
    if (ofHead === '') return '';
    let sorted = this.#sorted.get(ofHead);
    if (sorted === undefined) {
      const texts = [head.subarray(0, tools), head.subarray(tools)].map((part) => sortedJson(part.toString()));
      sorted = this.#hash([Buffer.from(texts.join('\n'))])
        .toString('base64url')
        .slice(0, SHOWN);
      this.#sorted.set(ofHead, sorted);
    }
    return sorted;
  }
}

/** JSON with the keys of all objects sorted. A text that is not JSON, such as one that was cut, stays as it is. */
function sortedJson(text: string): string {
  // A first message is the beginning of a list.
  const value = parseJson(text) ?? parseJson(`${text}]`);
  if (value === undefined) return text;
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

/** Notes the prompt of each attempt, and hashes it when the reply has ended. */
export function hashingSender(hasher: PrefixHasher, share = new CpuShare()): (sender: Sender) => Sender {
  return (sender) => ({
    send(exchange, attempt) {
      if (exchange.operation?.task === 'generate' && attempt.body.original.length >= LEAST_BYTES)
        attempt.prefixes = prefixesLater(attempt, hasher, share);
      return sender.send(exchange, attempt);
    },
  });
}

function prefixesLater({ body }: Attempt, hasher: PrefixHasher, share: CpuShare): Attempt['prefixes'] {
  // Parts of the bytes that arrived cost nothing until they are read, and their parsed form is freed meanwhile.
  const parts = body.edits.some(({ path }) => isPart(path[0])) ? undefined : partsOf(body);
  return (answered) => (answered ? share.run(() => hasher.prefixesOf(parts ?? partsOf(body))) : undefined);
}

const PARTS: readonly (string | undefined)[] = [...TOOLS, ...SYSTEM, ...MESSAGES];
const isPart = (name: string | undefined): boolean => PARTS.includes(name);
