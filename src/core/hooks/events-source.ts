import { createSignals, type GenerationEvent } from '../../formats/events.ts';
import type { ClientContext, Format, ReplyContext } from '../../formats/format.ts';
import { bytesOf } from '../../formats/json/literal.ts';
import { parseReplyText } from '../../formats/json/rounding.ts';
import { textOf } from '../../formats/sse/stream-start.ts';
import { UpstreamError, type GatewayError } from '../../plugin/errors.ts';
import type { ReplyEvent } from '../../plugin/hooks.ts';
import type { Source } from '../../plugin/reply.ts';
import { WrappedSource } from '../../plugin/wrapped-source.ts';
import { callId } from '../kernel/ids.ts';
import { replyError } from './reply-faults.ts';

/** A plugin's function for the events of one reply. */
export type EventHook = (event: ReplyEvent) => ReplyEvent | readonly ReplyEvent[] | undefined;

export interface EventsSetup {
  readonly format: Format;
  readonly client: ClientContext;
  readonly plugin: string;
  readonly hook: EventHook;
  readonly onFail: (error: GatewayError) => GatewayError;
}

const replyContext = ({ model }: ClientContext): ReplyContext => ({ model, newCallId: callId });

function* changed(events: readonly GenerationEvent[], hook: EventHook): Iterable<GenerationEvent> {
  for (const event of events) {
    // A fragment that the gateway holds as a literal is its text to the plugin.
    const result = hook(event.type === 'text' ? { ...event, text: event.text } : event);
    if (Array.isArray(result)) yield* result as readonly GenerationEvent[];
    else if (result !== undefined) yield result as GenerationEvent;
  }
}

/** A plain reply through the events of its format. Throws ReplyFault. */
export function throughEvents(body: Buffer, { format, client, hook }: EventsSetup): Buffer {
  const notes = createSignals();
  const events = format.decodeReply(parseReplyText(textOf(body)), replyContext(client), notes);
  return format.encodeReply([...changed(events, hook)], client, notes);
}

/** A stream, or a stream in one piece. */
export class EventStream {
  readonly #setup: EventsSetup;
  readonly #decoder;
  readonly #encoder;

  constructor(setup: EventsSetup) {
    const { format, client } = setup;
    this.#setup = setup;
    this.#decoder = format.decodeStream(replyContext(client));
    this.#encoder = format.encodeStream(client);
  }

  push(bytes: Buffer): Buffer | undefined {
    return this.#write(this.#decoder.push(bytes));
  }

  end(): Buffer | undefined {
    return this.#write(this.#decoder.end());
  }

  #write(events: readonly GenerationEvent[]): Buffer | undefined {
    const failed = events.find((event) => event.type === 'error');
    if (failed) throw new UpstreamError('stream_interrupted', failed.failure.message, { inStream: true });
    return bytesOf(this.#encoder.push([...changed(events, this.#setup.hook)]));
  }
}

export class EventsSource extends WrappedSource {
  readonly #stream: EventStream;
  readonly #setup: EventsSetup;
  #over = false;

  constructor(source: Source, setup: EventsSetup) {
    super(source);
    this.#setup = setup;
    this.#stream = new EventStream(setup);
  }

  override push(bytes: Buffer): void {
    this.#guarded(() => this.#send(this.#stream.push(bytes)));
  }

  override end(): void {
    this.#guarded(() => {
      this.#send(this.#stream.end());
      this.#over = true;
      super.end();
    });
  }

  override fail(error: GatewayError): void {
    if (this.#over) return;
    this.#over = true;
    super.fail(this.#setup.onFail(error));
  }

  #send(bytes: Buffer | undefined): void {
    if (bytes) super.push(bytes);
  }

  #guarded(task: () => void): void {
    if (this.#over) return;
    try {
      task();
    } catch (thrown) {
      this.#over = true;
      const error = replyError(thrown, this.#setup.plugin);
      super.fail(error);
      super.cancel(error);
    }
  }
}
