import { Cancellation } from '../../plugin/cancellation.ts';
import type { Clock } from '../../plugin/clock.ts';
import { UpstreamError, GatewayError } from '../../plugin/errors.ts';
import type { EndRecord, PluginHooks, Unseen } from '../../plugin/hooks.ts';
import type { Reply, Source } from '../../plugin/reply.ts';
import type { ReplyLayout } from '../../formats/texts/layout.ts';
import { ReplyTexts } from '../../formats/texts/reply-texts.ts';
import type { ClientContext } from '../../formats/format.ts';
import { joining, type TextChannel, type TextTransform } from '../../formats/texts/channels.ts';
import { lose } from '../../formats/losses/reply-losses.ts';
import type { GatewayContext, Middleware, Operation, Plugin, RequestBody } from '../kernel/index.ts';
import { currentWork, runAs } from '../kernel/outside/plugin-work.ts';
import { endRecord } from './end-record.ts';
import { EventsSource, EventStream, throughEvents, type EventsSetup } from './events-source.ts';
import { hooksOf, readsFault, readsOf, type Reads } from './reads.ts';
import { replyError, withMessage } from './reply-faults.ts';
import { ConversationView } from './request-view.ts';
import { ObservedSource, TextsSource } from './texts-source.ts';
import { Collected, wholeBody } from './whole-body.ts';

export interface HookTools {
  /** The plugin's name in the settings. */
  readonly instance: string;
  readonly clock: Clock;
  /** `limits.reply`: the longest body that is read whole. */
  readonly maxBytes: number;
  /** A hook failed that only observes: the request goes on. */
  readonly onFault: (thrown: unknown, requestId: string) => void;
  /** A stream waited, at most for so many milliseconds. */
  readonly onHeld?: (ms: number, ctx: GatewayContext) => void;
}

/** The hooks of a plugin as middleware of its chain. Throws for hooks that do not fit what the plugin declares. */
export function hooked(plugin: Pick<Plugin, 'level' | 'reads'>, made: unknown, tools: HookTools): Middleware {
  const fault = readsFault(plugin, made);
  if (fault !== undefined) throw new Error(fault);
  const setup = { hooks: hooksOf(made), reads: readsOf(plugin.reads ?? {}), tools };
  const { reads, hooks } = setup;
  return async (ctx, next) => {
    const run = new HookRun(ctx, setup);
    if (hooks.end) run.listen(hooks.end.bind(hooks));
    if (reads.request !== 'none') await run.readRequest();
    if (reads.reply === 'none') return next();
    run.prepareReply();
    try {
      await next();
    } catch (thrown) {
      throw thrown instanceof UpstreamError ? run.failed(thrown) : thrown;
    }
    await run.readReply();
  };
}

interface HookSetup {
  readonly hooks: PluginHooks;
  readonly reads: Reads;
  readonly tools: HookTools;
}

/** Tasks whose replies have texts. */
const WITH_TEXTS: ReadonlySet<string> = new Set(['generate', 'completions', 'images']);

const hasTexts = (operation: Operation | undefined): operation is Operation =>
  operation !== undefined && WITH_TEXTS.has(operation.task ?? '');

/** Tasks whose replies have texts that no layout describes. */
const WITH_OTHER_TEXTS: ReadonlySet<string> = new Set(['transcriptions', 'translations']);

/** The hooks of one plugin at work on one request, or on one attempt. */
class HookRun {
  readonly #ctx: GatewayContext;
  readonly #setup: HookSetup;
  #requestChanges = 0;
  #texts: ReplyTexts | undefined;
  #client: ClientContext | undefined;
  /** Errors of the upstream that were changed. */
  #errorChanges = 0;

  constructor(ctx: GatewayContext, setup: HookSetup) {
    this.#ctx = ctx;
    this.#setup = setup;
  }

  /** @param end its promise, if it returns one, is for the listener's guard, which reports a rejection */
  listen(end: (record: EndRecord, ctx: object) => unknown): void {
    const { exchange } = this.#ctx;
    const { clock } = this.#setup.tools;
    exchange.onEnd((state) => {
      const changed = { request: this.#requestChanges, reply: (this.#texts?.changes ?? 0) + this.#errorChanges };
      const record = endRecord(exchange, state, { now: clock.now(), changed });
      const { id, trace } = exchange;
      const work = currentWork();
      // The request is over: that its client has left does not cancel the calls of the hook.
      const after = work && { ...work, exchange: { id, trace, cancellation: new Cancellation() } };
      return runAs(after, () => end(record, this.#ctx));
    });
  }

  // The request

  async readRequest(): Promise<void> {
    const { hooks, reads, tools } = this.#setup;
    const { request, operation } = this.#ctx.exchange;
    if (request.form) this.#unseen('form', 'request');
    const body = this.#body;
    if (!body || !operation) return;
    const plugin = { name: tools.instance, mayChange: reads.request === 'texts' };
    const { texts } = operation.format;
    if (!texts) return this.#unseen('format', 'request');
    const view = new ConversationView(body, texts.request, plugin);
    await hooks.request?.(view, this.#ctx);
    const { edits } = view;
    if (edits.length === 0) return;
    this.#requestChanges = edits.length;
    this.#body = body.edit(edits);
  }

  get #body(): RequestBody | undefined {
    const { attempt, exchange } = this.#ctx;
    return attempt ? attempt.body : exchange.request.body;
  }

  set #body(body: RequestBody) {
    const { attempt, exchange } = this.#ctx;
    if (attempt) attempt.body = body;
    else exchange.request.body = body;
  }

  // The reply

  /** Reads what the client wants of its reply: the body is released before the reply comes. */
  prepareReply(): void {
    if (this.#setup.reads.reply !== 'events') return;
    const { operation, replyId, strict } = this.#ctx.exchange;
    const body = this.#body;
    if (!body || operation?.task !== 'generate') return;
    this.#client = {
      ...operation.format.readClient(body, { id: replyId, strict: strict ?? true }),
      created: Math.floor(this.#setup.tools.clock.wall() / 1000),
      model: body.string('model') ?? '',
      hideThoughts: false,
      ownId: false,
    };
  }

  async readReply(): Promise<void> {
    const { exchange, attempt } = this.#ctx;
    const { reply } = attempt ?? exchange;
    // An error has been read as one.
    if (!reply || reply.status >= 400) return;
    const { operation } = exchange;
    if (reply.form === 'bytes') return this.#unseen('bytes');
    if (WITH_OTHER_TEXTS.has(operation?.task ?? '')) return this.#unseen('format');
    if (!hasTexts(operation)) return;
    const layout = operation.format.texts?.reply;
    if (!layout) return this.#unseen('format');
    try {
      await this.#read(reply, layout, reply.form);
    } catch (thrown) {
      throw replyError(thrown, this.#setup.tools.instance);
    }
  }

  #read(reply: Reply, layout: ReplyLayout, form: 'json' | 'sse' | 'json-array'): Promise<void> | void {
    const { reads } = this.#setup;
    if (reads.reply === 'events') return this.#readEvents(reply);
    const texts = new ReplyTexts({
      layout,
      form,
      open: reads.reply === 'texts' ? this.#open : this.#openObserved,
      // The answer of a model of Anthropic, in whatever API it leaves.
      signed: reads.reply === 'texts' && this.#ctx.exchange.attempts.at(-1)?.resolved?.format === 'anthropic-messages',
      onLost: (field) => {
        const signals = this.#ctx.exchange.attempts.at(-1)?.signals;
        if (signals) lose(signals, field, 'The text that it describes was changed by a plugin.');
      },
    });
    this.#texts = texts;
    return reads.reply === 'observe' ? this.#observe(reply, texts) : this.#change(reply, texts);
  }

  // Texts

  async #change(reply: Reply, texts: ReplyTexts): Promise<void> {
    const { reads, tools } = this.#setup;
    const { hold } = reads;
    const { body, form } = reply;
    if (!Buffer.isBuffer(body) && form !== 'json' && hold.mode !== 'all') {
      const { clock, instance: plugin } = tools;
      const onFail = (error: GatewayError): GatewayError => this.failed(error);
      reply.body = new TextsSource(body, texts, { plugin, clock, hold, onFail, onHeld: this.#onHeld });
      return;
    }
    const isHeld = hold.mode === 'all' && form !== 'json' && !Buffer.isBuffer(body);
    const from = tools.clock.now();
    reply.body = whole(texts, await this.#whole(body, isHeld ? hold.bytes : tools.maxBytes));
    if (isHeld) this.#onHeld(tools.clock.now() - from);
  }

  readonly #onHeld = (ms: number): void => this.#setup.tools.onHeld?.(ms, this.#ctx);

  readonly #open = (channel: TextChannel): TextTransform | undefined => {
    const { hooks, reads } = this.#setup;
    return reads.kinds.has(channel.kind) ? hooks.reply?.(channel, this.#ctx) : undefined;
  };

  #whole(body: Buffer | Source, most: number): Promise<Buffer> | Buffer {
    return Buffer.isBuffer(body)
      ? body
      : wholeBody(body, most, (this.#ctx.attempt ?? this.#ctx.exchange).cancellation).catch((error: unknown) => {
          throw error instanceof UpstreamError ? this.failed(error) : error;
        });
  }

  // Observed texts

  #observe(reply: Reply, texts: ReplyTexts): void {
    const { tools } = this.#setup;
    const onFault = (thrown: unknown): void => tools.onFault(thrown, this.#ctx.exchange.id);
    const show = (body: Buffer | undefined): void => {
      if (body) whole(texts, body);
      else this.#unseen('size');
    };
    const { body } = reply;
    if (Buffer.isBuffer(body)) {
      try {
        show(body);
      } catch (thrown) {
        onFault(thrown);
      }
    } else
      reply.body = new ObservedSource(
        body,
        reply.form === 'json' ? new Collected(tools.maxBytes, show) : texts,
        onFault,
      );
  }

  /** The transform of a plugin that only observes: what it returns is dropped. */
  readonly #openObserved = (channel: TextChannel): TextTransform | undefined => {
    const transform = this.#open(channel);
    if (!transform) return undefined;
    return joining((text, final) => {
      transform(text, final);
      return { text };
    });
  };

  // Events

  async #readEvents(reply: Reply): Promise<void> {
    const { hooks, tools } = this.#setup;
    const { operation } = this.#ctx.exchange;
    if (!this.#client || !operation || !hooks.events) return;
    const setup: EventsSetup = {
      format: operation.format,
      client: this.#client,
      plugin: tools.instance,
      hook: hooks.events(this.#ctx),
      onFail: (error) => this.failed(error),
    };
    const { body, form } = reply;
    if (form === 'json') reply.body = throughEvents(await this.#whole(body, tools.maxBytes), setup);
    else if (Buffer.isBuffer(body)) reply.body = whole(new EventStream(setup), body);
    else reply.body = new EventsSource(body, setup);
  }

  // Errors

  /** The error of an upstream with its message as the plugin leaves it. */
  failed(error: GatewayError): GatewayError {
    if (!(error instanceof UpstreamError) || !this.#setup.reads.kinds.has('error')) return error;
    try {
      const message = this.#ofError(error.message);
      // Clients of Google's API get them, too: they may quote what the message does not.
      const details = error.upstreamDetails && JSON.stringify(error.upstreamDetails);
      const isSame = message === error.message && (details === undefined || this.#ofError(details) === details);
      if (this.#setup.reads.reply !== 'texts' || isSame) return error;
      this.#errorChanges += 1;
      return withMessage(error, message);
    } catch (thrown) {
      return replyError(thrown, this.#setup.tools.instance);
    }
  }

  #ofError(text: string): string {
    const transform = this.#setup.hooks.reply?.({ kind: 'error', answer: 0, block: 0, signed: false }, this.#ctx);
    const result = transform?.(text, true) ?? text;
    return typeof result === 'string' ? result : result.text;
  }

  #unseen(why: Unseen['why'], on: Unseen['on'] = 'reply'): void {
    this.#setup.hooks.unseen?.({ on, why }, this.#ctx);
  }
}

/** All of a body at once. */
function whole(texts: Pick<ReplyTexts, 'push' | 'end'>, body: Buffer): Buffer {
  const first = texts.push(body);
  const rest = texts.end();
  return first && rest ? Buffer.concat([first, rest]) : (first ?? rest ?? Buffer.alloc(0));
}
