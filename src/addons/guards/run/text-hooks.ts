import type { GatewayContext } from '../../../core/kernel/index.ts';
import { joining, type EditedText, type TextChannel, type TextTransform } from '../../../formats/texts/channels.ts';
import type { PluginHooks, PluginReads, RequestTextView, RequestView } from '../../../plugin/hooks.ts';
import type { CompiledGuard } from '../guard.ts';
import { masked, maskingStream, watchingStream } from '../search/scan.ts';
import type { TextSearch } from '../search/text-search.ts';
import { guarded, verdictOf, type Verdict } from './verdicts.ts';

export interface GuardHooks {
  readonly reads: PluginReads;
  readonly hooks: PluginHooks<GatewayContext>;
}

/** A guard whose check searches each text. */
export function textHooks(guard: CompiledGuard, search: TextSearch): GuardHooks {
  const { action, input, output, replyKinds } = guard;
  const observes = action === 'observe';
  // A search of a whole text lets nothing leave before its end, so that its refusal can have a status.
  const hold = search.decided || observes ? guard.hold : { ...guard.hold, mode: 'all' as const, bytes: WHOLE };
  return {
    reads: {
      request: input ? (action === 'mask' ? 'texts' : 'observe') : 'none',
      reply: output ? (observes ? 'observe' : 'texts') : 'none',
      kinds: replyKinds,
      hold,
    },
    hooks: {
      ...(input && {
        request: (view: RequestView, { exchange }: GatewayContext) => {
          checkRequest(view, { guard, search, verdict: verdictOf(exchange, guard, 'input') });
        },
      }),
      ...(output && {
        reply: (_: TextChannel, { exchange }: GatewayContext) =>
          checkReply(guard, search, verdictOf(exchange, guard, 'output')),
      }),
      unseen: unseenHook(guard),
    },
  };
}

const WHOLE = 16 * 1024 * 1024;

function checkRequest(
  view: RequestView,
  { guard, search, verdict }: { readonly guard: CompiledGuard; readonly search: TextSearch; readonly verdict: Verdict },
): void {
  seeMedia(view, guard, verdict);
  const found = (): void => verdict.found();
  for (const one of textsFor(view, guard))
    guarded(verdict, undefined, () => {
      const text = masked(one.text, search, found);
      if (guard.action === 'mask') one.replace(text);
    });
}

/** The texts of a request that the guard reads: of those that it may change, none that a provider has signed. */
export function textsFor(
  view: RequestView,
  { action, roles, requestKinds, last }: CompiledGuard,
): readonly RequestTextView[] {
  const all = view.texts({ ...(roles && { roles: [...roles] }), kinds: requestKinds });
  const texts = action === 'mask' ? all.filter(({ signed }) => !signed) : all;
  return last ? texts.filter(({ kind }) => kind !== 'definition').slice(-1) : texts;
}

/** Pictures, sound and files of messages are no texts. */
export function seeMedia(view: RequestView, { roles }: CompiledGuard, verdict: Verdict): void {
  const one = view.media.find(({ role }) => roles?.has(role) ?? true);
  if (one) verdict.unseen(`the ${one.type} at ${one.place}`);
}

function checkReply(guard: CompiledGuard, search: TextSearch, verdict: Verdict): TextTransform {
  const open = guard.action === 'observe' ? watchingStream : maskingStream;
  const transform = open(search, () => verdict.found());
  let isBroken = false;
  return joining((text, final) => {
    const result = isBroken
      ? undefined
      : guarded<EditedText | undefined>(verdict, undefined, () => transform(text, final));
    // `on_error` is `allow`: the rest is not checked.
    isBroken = result === undefined;
    return result ?? { text };
  });
}

export const unseenHook =
  (guard: CompiledGuard): NonNullable<GuardHooks['hooks']['unseen']> =>
  ({ on, why }, { exchange }) => {
    if (on === 'request' && guard.input) verdictOf(exchange, guard, 'input').unseen(PARTS[why]);
    if (on === 'reply' && guard.output) verdictOf(exchange, guard, 'output').unseen(PARTS[why]);
  };

const PARTS = {
  form: 'the file',
  bytes: 'the bytes',
  size: 'the length',
  format: 'the format',
} as const;
