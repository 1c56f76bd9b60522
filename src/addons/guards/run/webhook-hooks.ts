import type { GatewayContext } from '../../../core/kernel/index.ts';
import type { TextChannel, TextTransform } from '../../../formats/texts/channels.ts';
import type { RequestView } from '../../../plugin/hooks.ts';
import type { CompiledGuard } from '../guard.ts';
import { seeMedia, textsFor, unseenHook, type GuardHooks } from './text-hooks.ts';
import type { GuardStep } from './step.ts';
import { verdictOf, type Verdict } from './verdicts.ts';
import type { Answer, AskedText, GuardWebhook } from './webhook.ts';

/** The texts of one reply in their order: as they came, and as the webhook wants them. */
class TextsOfReply {
  readonly asked: AskedText[] = [];
  #answer: Answer | undefined;
  #left = 0;

  add({ kind, answer, block }: TextChannel, text: string): void {
    this.asked.push({ kind, place: `${kind}.${answer}.${block}`, text });
  }

  use(answer: Answer): void {
    this.#answer = answer;
  }

  next(text: string): string {
    const index = this.#left;
    this.#left += 1;
    if (this.asked[index]?.text !== text) throw new Error('the texts of a reply are not those that were asked about');
    return this.#answer?.texts.get(index) ?? text;
  }
}

/** Two sets of hooks with a call between them: hooks decide about texts at once, and a webhook answers later. */
export interface WebhookSteps {
  readonly request: GuardHooks | undefined;
  readonly reply:
    | { readonly replaces: GuardHooks; readonly asks: GuardStep; readonly collects: GuardHooks }
    | undefined;
}

export function webhookSteps(guard: CompiledGuard, webhook: Pick<GuardWebhook, 'ask'> | undefined): WebhookSteps {
  const ask: Ask = (on, ctx, texts) => decide(guard, webhook, { on, ctx, texts });
  return {
    request: guard.input ? requestHooks(guard, ask) : undefined,
    reply: guard.output ? replySteps(guard, ask) : undefined,
  };
}

type Ask = (on: 'input' | 'output', ctx: GatewayContext, texts: readonly AskedText[]) => Promise<Answer | undefined>;

function requestHooks(guard: CompiledGuard, ask: Ask): GuardHooks {
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
  return {
    reads: { request: guard.action === 'mask' ? 'texts' : 'observe' },
    hooks: {
      // Nothing waits for a verdict that is only observed.
      request(view, ctx) {
        const asked = request(view, ctx);
        return guard.action !== 'observe' ? asked : verdictOf(ctx.exchange, guard, 'input').comesWith(asked);
      },
      unseen: unseenHook({ ...guard, output: false }),
    },
  };
}

const WHOLE = { mode: 'all' } as const;

function replySteps(guard: CompiledGuard, ask: Ask): NonNullable<WebhookSteps['reply']> {
  const observes = guard.action === 'observe';
  const ofAnswer = guard.replyKinds.filter((kind) => kind !== 'error');
  const runs = new WeakMap<object, TextsOfReply>();
  const runOf = ({ attempt, exchange }: GatewayContext): TextsOfReply => {
    const of = attempt ?? exchange;
    let run = runs.get(of);
    if (!run) runs.set(of, (run = new TextsOfReply()));
    return run;
  };
  return {
    replaces: {
      reads: observes ? {} : { reply: 'texts', kinds: ofAnswer, hold: WHOLE },
      hooks: observes
        ? {}
        : {
            reply: (_, ctx) => (text, final) => (final ? runOf(ctx).next(text) : { text: '', keep: text.length }),
          },
    },
    async asks(ctx, next) {
      await next();
      if (observes) {
        const { exchange } = ctx;
        const asked = new Promise((resolve) => exchange.onEnd(() => resolve(ask('output', ctx, runOf(ctx).asked))));
        return verdictOf(exchange, guard, 'output').comesWith(asked);
      }
      const answer = await ask('output', ctx, runOf(ctx).asked);
      if (answer && guard.action === 'mask') runOf(ctx).use(answer);
    },
    collects: {
      // An error cannot wait for an answer: its message is withheld.
      reads: { reply: observes ? 'observe' : 'texts', kinds: observes ? ofAnswer : guard.replyKinds, hold: WHOLE },
      hooks: {
        reply: (channel, ctx) =>
          channel.kind === 'error'
            ? () => withheld(guard)
            : collecting(observes, (text) => runOf(ctx).add(channel, text)),
        unseen: unseenHook({ ...guard, input: false }),
      },
    },
  };
}

/** A transform that waits for the whole text, or only watches it. */
function collecting(observes: boolean, add: (text: string) => void): TextTransform {
  let whole = '';
  return (text, final) => {
    if (observes) whole += text;
    if (final) add(observes ? whole : text);
    return final || observes ? text : { text: '', keep: text.length };
  };
}

/** In place of the message of a failed upstream, which the webhook has not read. */
const withheld = ({ name }: CompiledGuard): string =>
  `The upstream failed. Its message is withheld, because the guard "${name}" has not read it.`;

interface Asked {
  readonly on: 'input' | 'output';
  readonly ctx: GatewayContext;
  readonly texts: readonly AskedText[];
}

/** Undefined: the guard could not be asked, and lets the texts pass. */
async function decide(
  guard: CompiledGuard,
  webhook: Pick<GuardWebhook, 'ask'> | undefined,
  { on, ctx, texts }: Asked,
): Promise<Answer | undefined> {
  const verdict = verdictOf(ctx.exchange, guard, on);
  if (texts.length === 0) return undefined;
  // A dry run calls nothing outside the process.
  if (!webhook) {
    verdict.skipped();
    return undefined;
  }
  // A verdict that is only observed is not waited for: it comes when the request has ended.
  const cancellation = guard.action === 'observe' ? undefined : (ctx.attempt ?? ctx.exchange).cancellation;
  let answer: Answer;
  try {
    const question = { guard: guard.name, on, action: guard.action, request: aboutRequest(ctx), texts };
    answer = await webhook.ask(question, cancellation);
    if (guard.action === 'mask' && answer.verdict === 'mask' && answer.texts.size === 0)
      throw new Error('the verdict is `mask`, and the answer has no texts');
  } catch (thrown) {
    if (cancellation?.reason) {
      verdict.skipped();
      throw cancellation.reason;
    }
    verdict.failed(thrown);
    return undefined;
  }
  settle(guard, verdict, answer);
  return answer;
}

function settle(guard: CompiledGuard, verdict: Verdict, { verdict: decided, message }: Answer): void {
  if (decided === 'pass') return;
  // A guard that denies does so for a text that the webhook would only replace.
  verdict.found(guard.action === 'deny' || (guard.action === 'mask' && decided === 'deny'), message);
}

const aboutRequest = ({ exchange }: GatewayContext): Readonly<Record<string, unknown>> => ({
  id: exchange.id,
  operation: exchange.operation?.id,
  model: exchange.request.body?.string('model') ?? exchange.request.params['model'],
  key: exchange.caller?.keyId,
  team: exchange.caller?.team,
  metadata: exchange.metadata,
});
