import type { Exchange, GatewayContext } from '../../../core/kernel/index.ts';
import type { TextChannel, TextTransform } from '../../../formats/texts/channels.ts';
import type { RequestView } from '../../../plugin/hooks.ts';
import { GatewayError } from '../../../plugin/index.ts';
import type { Guard } from '../guard.ts';
import { seeMedia, textsFor, unseenHook, type GuardHooks } from './text-hooks.ts';
import { verdictOf, type Verdict } from './verdicts.ts';
import type { Answer, AskedText, Webhook } from './webhook.ts';

/** The texts of one reply: as they came, and as the webhook wants them. */
class ReplyTextsOfRun {
  readonly #texts = new Map<string, { readonly asked: AskedText; text: string }>();
  #answer: Answer | undefined;

  add(channel: TextChannel, text: string): void {
    const place = placeOf(channel);
    this.#texts.set(place, { asked: { kind: channel.kind, place, text }, text });
  }

  get asked(): readonly AskedText[] {
    return [...this.#texts.values()].map(({ asked }) => asked);
  }

  use(answer: Answer): void {
    this.#answer = answer;
  }

  /** The text that leaves. */
  of(channel: TextChannel, text: string): string {
    const index = [...this.#texts.keys()].indexOf(placeOf(channel));
    return this.#answer?.texts.get(index) ?? text;
  }
}

const placeOf = ({ kind, answer, block }: TextChannel): string => `${kind}.${answer}.${block}`;

type Next = () => Promise<void>;
type Run = (ctx: GatewayContext, next: Next) => Promise<void>;

/** Two sets of hooks with a call between them: hooks decide about texts at once, and a webhook answers later. */
export interface WebhookSteps {
  readonly request: GuardHooks | undefined;
  /** From the outermost in. */
  readonly reply: { readonly replaces: GuardHooks; readonly asks: Run; readonly collects: GuardHooks } | undefined;
}

/** A guard whose check is a webhook. */
export function webhookSteps(guard: Guard, webhook: Pick<Webhook, 'ask'> | undefined): WebhookSteps {
  const runs = new WeakMap<Exchange, ReplyTextsOfRun>();
  const runOf = (exchange: Exchange): ReplyTextsOfRun => {
    let run = runs.get(exchange);
    if (!run) runs.set(exchange, (run = new ReplyTextsOfRun()));
    return run;
  };
  const ask = (on: 'input' | 'output', ctx: GatewayContext, texts: readonly AskedText[]) =>
    decide(guard, webhook, { on, ctx, texts });
  const request = async (view: RequestView, ctx: GatewayContext): Promise<void> => {
    const verdict = verdictOf(ctx.exchange, guard, 'input');
    seeMedia(view, guard, verdict);
    const views = textsFor(view, guard);
    const texts = views.map(({ role, kind, place, text }) => ({ role, kind, place, text }));
    const answer = await ask('input', ctx, texts);
    if (guard.action !== 'mask') return;
    try {
      for (const [index, text] of answer?.texts ?? []) views[index]?.replace(text);
    } catch (thrown) {
      verdict.failed(thrown);
    }
  };
  const collect = ({ exchange }: GatewayContext, channel: TextChannel): TextTransform => {
    let whole = '';
    return guard.action === 'observe'
      ? (text, final) => {
          whole += text;
          if (final) runOf(exchange).add(channel, whole);
          return text;
        }
      : (text, final) => {
          if (!final) return { text: '', keep: text.length };
          runOf(exchange).add(channel, text);
          return text;
        };
  };
  const observes = guard.action === 'observe';
  // The message of a failed upstream has no time to wait for an answer.
  const kinds = guard.replyKinds.filter((kind) => kind !== 'error');
  const hold = { mode: 'all' } as const;
  return {
    request: guard.input
      ? {
          reads: { request: guard.action === 'mask' ? 'texts' : 'observe' },
          hooks: {
            // Nothing waits for a verdict that is only observed.
            request: (view, ctx) => (observes ? void request(view, ctx) : request(view, ctx)),
            unseen: unseenHook({ ...guard, output: false }),
          },
        }
      : undefined,
    reply: guard.output
      ? {
          replaces: {
            reads: observes ? {} : { reply: 'texts', kinds, hold },
            hooks: observes
              ? {}
              : {
                  reply:
                    (channel, { exchange }) =>
                    (text, final) =>
                      final ? runOf(exchange).of(channel, text) : { text: '', keep: text.length },
                },
          },
          async asks(ctx, next) {
            await next();
            const { exchange } = ctx;
            const texts = runs.get(exchange)?.asked ?? [];
            if (observes) exchange.onEnd(() => void ask('output', ctx, runs.get(exchange)?.asked ?? []));
            else if (texts.length > 0) {
              const answer = await ask('output', ctx, texts);
              if (answer && guard.action === 'mask') runOf(exchange).use(answer);
            }
          },
          collects: {
            reads: { reply: observes ? 'observe' : 'texts', kinds, hold },
            hooks: {
              reply: (channel, ctx) => collect(ctx, channel),
              unseen: unseenHook({ ...guard, input: false }),
            },
          },
        }
      : undefined,
  };
}

interface Asked {
  readonly on: 'input' | 'output';
  readonly ctx: GatewayContext;
  readonly texts: readonly AskedText[];
}

/** Undefined: the guard could not be asked, and lets the texts pass. */
async function decide(
  guard: Guard,
  webhook: Pick<Webhook, 'ask'> | undefined,
  { on, ctx, texts }: Asked,
): Promise<Answer | undefined> {
  const verdict = verdictOf(ctx.exchange, guard, on);
  if (texts.length === 0) return undefined;
  // A dry run calls nothing outside the process.
  if (!webhook) return void verdict.skipped();
  let answer: Answer;
  try {
    const question = { guard: guard.name, on, action: guard.action, request: aboutRequest(ctx), texts };
    answer = await webhook.ask(question, ctx.exchange.id);
  } catch (thrown) {
    return void verdict.failed(thrown);
  }
  settle(guard, verdict, answer);
  return answer;
}

function settle(guard: Guard, verdict: Verdict, { verdict: decided, message }: Answer): void {
  if (decided === 'pass') return;
  // A guard that denies does so for a text that the webhook would only replace.
  const denies = guard.action === 'deny' || (guard.action === 'mask' && decided === 'deny');
  try {
    verdict.found(denies);
  } catch (thrown) {
    throw message !== undefined && thrown instanceof GatewayError ? verdict.refusal(message) : thrown;
  }
}

const aboutRequest = ({ exchange }: GatewayContext): Readonly<Record<string, unknown>> => ({
  id: exchange.id,
  operation: exchange.operation?.id,
  model: exchange.request.body?.string('model') ?? exchange.request.params['model'],
  key: exchange.caller?.keyId,
  team: exchange.caller?.team,
  metadata: exchange.metadata,
});
