import { TEXT_KINDS, type TextKind } from '../../formats/texts/channels.ts';
import type { TextHold, PluginHooks, PluginReads, ReadLevel } from '../../plugin/hooks.ts';
import type { Plugin } from '../kernel/index.ts';

/** The declaration of a plugin, with its defaults. */
export interface Reads {
  readonly request: ReadLevel;
  readonly reply: ReadLevel;
  readonly kinds: ReadonlySet<TextKind>;
  readonly hold: Required<TextHold>;
}

const WINDOW: Required<TextHold> = { mode: 'window', bytes: 4096, time: 2000, beyond: 'stop' };
const ALL: Required<TextHold> = { mode: 'all', bytes: 16 * 1024 * 1024, time: Infinity, beyond: 'stop' };

export function readsOf({ request = 'none', reply = 'none', kinds = ['text'], hold = {} }: PluginReads): Reads {
  return { request, reply, kinds: new Set(kinds), hold: { ...(hold.mode === 'all' ? ALL : WINDOW), ...hold } };
}

const LEVELS: readonly ReadLevel[] = ['none', 'observe', 'texts', 'events'];
const REQUEST_LEVELS: readonly ReadLevel[] = ['none', 'observe', 'texts'];
const HOOKS = ['request', 'reply', 'events', 'unseen', 'end'] as const;

/** Why the gateway refuses a plugin: what it declares, or hooks that do not fit. Undefined: it is right. */
export function readsFault({ level, reads }: Pick<Plugin, 'level' | 'reads'>, made: unknown): string | undefined {
  if (!reads) return undefined;
  if (level === 'entry') return 'a plugin of the entry chain has no hooks: the request is not read there';
  return declarationFault(reads) ?? hooksFault(reads, made);
}

function declarationFault({
  request = 'none',
  reply = 'none',
  kinds = [],
  hold = {},
}: PluginReads): string | undefined {
  if (!REQUEST_LEVELS.includes(request))
    return `\`reads.request\` is none, observe or texts, not ${JSON.stringify(request)}`;
  if (!LEVELS.includes(reply)) return `\`reads.reply\` is ${LEVELS.join(', ')}, not ${JSON.stringify(reply)}`;
  const unknown = kinds.find((kind) => !TEXT_KINDS.includes(kind));
  if (String(unknown) === 'signed_thinking')
    return 'signed thinking cannot be changed: its provider refuses it in the next request. Read `thinking`: a change of thinking that is signed ends the reply';
  if (unknown !== undefined) return `\`reads.kinds\` are ${TEXT_KINDS.join(', ')}, not ${JSON.stringify(unknown)}`;
  const { bytes = 1, time = 1 } = hold;
  return bytes > 0 && time > 0 ? undefined : '`reads.hold` has `bytes` and `time` above 0';
}

function hooksFault({ request = 'none', reply = 'none' }: PluginReads, made: unknown): string | undefined {
  if (typeof made !== 'object' || made === null) return 'its `create` returned no hooks, which `reads` promises';
  const has = (name: (typeof HOOKS)[number]): boolean => typeof Reflect.get(made, name) === 'function';
  const wanted: readonly (typeof HOOKS)[number][] = [
    ...(request === 'none' ? [] : (['request'] as const)),
    ...(reply === 'none' ? [] : [reply === 'events' ? ('events' as const) : ('reply' as const)]),
  ];
  const missing = wanted.find((name) => !has(name));
  if (missing) return `it declares that it reads, and its \`create\` returned no hook \`${missing}\``;
  const undeclared = (['request', 'reply', 'events'] as const).find((name) => has(name) && !wanted.includes(name));
  return undeclared && `its hook \`${undeclared}\` would never be called: \`reads\` does not declare it`;
}

/** After `readsFault`. */
export const hooksOf = (made: unknown): PluginHooks => made as PluginHooks;
