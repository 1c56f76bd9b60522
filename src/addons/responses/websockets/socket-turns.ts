import type { JsonObject } from '../../../formats/conversation.ts';
import type { Routed } from '../../../core/http/gateway/request-scope.ts';
import { uuidv7 } from '../../../core/kernel/ids.ts';
import { Cancellation, GatewayError, type Clock } from '../../../plugin/index.ts';
import { toGatewayError, type Turns } from '../../../core/kernel/index.ts';
import type { ServerSettings } from '../../../core/settings/compile/server-settings.ts';
import type { WebSocketSettings } from '../settings/websockets.ts';
import {
  errorFrame,
  limitReached,
  longStreamId,
  refusalFrame,
  steerFailed,
  warmUpFrames,
  withStreamId,
} from './answers.ts';
import { isFalse, jsonOf, readFrame, textOf, withTexts, type Frame } from './frame.ts';
import { LatestResponse, type Continued } from './latest-response.ts';
import type { HoldBytes } from './open-sockets.ts';
import { turnHeaders, runRequest, type Handle, type Handshake, type Koa, type Running } from './turn.ts';
import { TurnReply, type TurnEnd } from './turn-reply.ts';

export interface TurnsSetup {
  readonly handle: Handle;
  readonly koa: Koa;
  readonly clock: Clock;
  /** Work on a large message has its turn among that of all requests. */
  readonly turns: Turns;
  readonly key: string;
  /** Counts bytes that the socket holds. */
  readonly hold: HoldBytes;
  readonly settings: () => Pick<ServerSettings, 'limits' | 'deadlineMs'>;
  /** The settings at the time when the socket opened. */
  readonly limits: WebSocketSettings;
  /** The operation of a turn, and that of the handshake. */
  readonly turn: Routed;
  readonly opening: Routed;
}

export interface TurnsConnection {
  /** Sends events of a response that runs. `sent` is called when they have left. */
  readonly send: (texts: readonly string[], sent: () => void) => void;
  /** Sends what is no event of a running response. */
  readonly say: (text: string, sent: () => void) => void;
  /** Everything before the next message has left. */
  readonly done: () => void;
  /** A request begins, whose deadline is its own. */
  readonly begun: () => void;
  readonly close: (code: number, reason: string) => void;
  /** Closes the socket with a last message. */
  readonly endBy: (last: string) => void;
}

/** RFC 6455, section 7.4.1, and the registry of https://www.iana.org/assignments/websocket. */
const CLOSE = { policy: 1008, fault: 1011 } as const;

/** Each event of the turn repeats its name, and events are many. Clients send a few dozen bytes. */
const MOST_STREAM_ID = 1024;

/** Sends what a message asks for; its work on the bytes is done. */
type Act = () => void;

/** The messages of one socket, each answered as a turn: a request of its own, or an answer without one. */
export class SocketTurns {
  readonly #connection: TurnsConnection;
  readonly #handshake: Handshake;
  readonly #setup: TurnsSetup;
  readonly #latest: LatestResponse;
  readonly #cancellation = new Cancellation();
  #running: Running | undefined;
  #count = 0;

  constructor(connection: TurnsConnection, handshake: Handshake, setup: TurnsSetup) {
    this.#connection = connection;
    this.#handshake = handshake;
    this.#setup = setup;
    this.#latest = new LatestResponse(setup.hold);
  }

  /** The socket is closing: nothing more is answered. */
  abort(): void {
    this.#cancellation.cancel(new GatewayError('client_closed', 'The WebSocket was closed.'));
    this.#running?.abort();
  }

  forget(): void {
    this.#latest.forget();
  }

  /** @param taken called when the bytes are no longer held, or are those of a request */
  answer(bytes: Buffer, taken: () => void): void {
    this.#count += 1;
    const go = (act: Act): void => {
      taken();
      act();
    };
    const read = this.#inTurn(bytes.length + this.#latest.bytes, () => this.#read(bytes));
    if (!(read instanceof Promise)) return go(read);
    const refuse = (error: unknown): Act => {
      const refusal = refusalFrame(toGatewayError(error));
      return () => this.#connection.say(refusal, this.#done);
    };
    void read.catch(refuse).then(go);
  }

  /** Scanning, joining and writing of megabytes block the process as those of a body do. A small message waits for nothing. */
  #inTurn<T>(bytes: number, work: () => T): T | Promise<T> {
    const { turns, clock, key, settings } = this.#setup;
    if (!turns.isHeavy(bytes)) return work();
    const deadline = clock.now() + settings().deadlineMs;
    const taker = { caller: { keyId: key }, cancellation: this.#cancellation, deadline };
    // It may throw at once.
    const run = async (): Promise<T> => turns.run(taker, work);
    return run();
  }

  readonly #done = (): void => {
    this.#running = undefined;
    this.#connection.done();
  };

  #read(bytes: Buffer): Act {
    const frame = readFrame(bytes, this.#setup.settings().limits.json);
    const type = frame && textOf(frame, 'type');
    if (frame && Buffer.byteLength(jsonOf(frame, 'stream_id') ?? '') > MOST_STREAM_ID) {
      this.#count -= 1;
      return () => this.#connection.say(longStreamId(MOST_STREAM_ID), this.#done);
    }
    if (frame && type !== 'response.create') {
      this.#count -= 1;
      return this.#readOther(frame, type);
    }
    if (this.#count > this.#setup.limits.turns) {
      const last = limitReached('This WebSocket has had its turns (websockets.turns).');
      return () => (this.#connection.endBy(last), this.#done());
    }
    if (!frame) return () => this.#turn(bytes, undefined);
    if (isFalse(frame, 'generate')) return this.#readWarmUp(frame);
    const continued = this.#latest.continue(frame);
    const body = turnBody(frame, continued);
    return () => this.#turn(body, { frame, continued });
  }

  #readOther(frame: Frame, type: string | undefined): Act {
    const streamId = textOf(frame, 'stream_id');
    const say = (text: string): Act => {
      const answer = withStreamId(text, streamId);
      return () => this.#connection.say(answer, this.#done);
    };
    if (type === 'response.steer') {
      const { input = '', previous_response_id = '' } = parse(frame);
      return say(steerFailed({ input, previous_response_id }));
    }
    const message = 'A message must be a JSON object with the `type` response.create.';
    return say(errorFrame(400, { code: 'invalid_request', message, param: 'type' }));
  }

  /** @param of undefined: the request path refuses these bytes, as it refuses such a body */
  #turn(body: Buffer, of: { readonly frame: Frame; readonly continued: Continued } | undefined): void {
    const { turn: routed, handle, koa } = this.#setup;
    const { send, say } = this.#connection;
    const names = {
      streamId: of && textOf(of.frame, 'stream_id'),
      previous: of?.continued.named,
      unknownPrevious: of !== undefined && of.continued.named === undefined,
    };
    const sink = new TurnReply({ send, say }, names, (end) => {
      const { result } = end;
      if (of && result && end.whole)
        return void this.#keep(of.frame, of.continued, result).then(() => this.#ended(end));
      if (of) this.#latest.evict(of.frame);
      this.#ended(end);
    });
    const headers = turnHeaders(this.#handshake, body.length);
    this.#connection.begun();
    this.#running = runRequest(this.#handshake, { method: 'POST', headers, body, routed }, { handle, koa, sink });
  }

  /** The next message waits, because it may continue the response. Without a turn the response is not kept. */
  async #keep(frame: Frame, continued: Continued, result: NonNullable<TurnEnd['result']>): Promise<void> {
    const bytes = frame.bytes.length + this.#latest.bytes + result.output.length;
    const keep = (): void => this.#latest.keep(frame, continued, result, this.#setup.limits.keptBytes);
    try {
      await this.#inTurn(bytes, keep);
    } catch {
      this.#latest.forget();
    }
  }

  #ended({ status, whole }: TurnEnd): void {
    // Without an event of the failure, only the close shows it.
    if (!whole) return this.#connection.close(CLOSE.fault, 'the response broke off');
    // The key of the handshake is that of every turn.
    if (status === 401) return this.#connection.close(CLOSE.policy, 'the key is not valid');
    this.#done();
  }

  /** A turn that asks no model (docs/protocols/openai-responses.md#websocket). Its input begins a conversation. */
  #readWarmUp(frame: Frame): Act {
    const { opening: routed, turn, handle, koa, clock } = this.#setup;
    const { send, say } = this.#connection;
    const streamId = textOf(frame, 'stream_id');
    const continued = this.#latest.continue(frame);
    const body = parse(frame);
    const fault = turn.operation?.validate(body);
    const succeed = (): void => {
      const id = `resp_${uuidv7(clock.wall()).replaceAll('-', '')}`;
      const [created, completed] = warmUpFrames(id, Math.floor(clock.wall() / 1000), body);
      void this.#keep(frame, continued, { id, output: '' }).then(() =>
        say(withStreamId(created!, streamId), () => say(withStreamId(completed!, streamId), this.#done)),
      );
    };
    const refuse = ({ message, param, missing }: NonNullable<typeof fault>): void => {
      const code = missing ? 'missing_required_parameter' : 'invalid_request';
      say(withStreamId(refusalFrame(new GatewayError(code, message, { param })), streamId), this.#done);
    };
    const opened = new TurnReply({ send, say }, { streamId, previous: undefined, unknownPrevious: false }, (end) => {
      if (end.status !== 101) this.#ended(end);
      else if (fault) refuse(fault);
      else succeed();
    });
    const { headers } = this.#handshake;
    const request = { method: 'GET', headers: withoutId(headers), body: undefined, routed } as const;
    return () => {
      this.#connection.begun();
      this.#running = runRequest(this.#handshake, request, { handle, koa, sink: opened });
    };
  }
}

const parse = ({ bytes }: Frame): JsonObject => JSON.parse(bytes.toString('utf8')) as JsonObject;

const withoutId = ({ 'x-request-id': _, ...headers }: Handshake['headers']): Handshake['headers'] => headers;

/** Fields of a message that a request over HTTP does not have, or that have no effect in a socket (Codex sends `stream`). */
const SOCKET_FIELDS = ['type', 'stream_id', 'generate', 'stream_options', 'background'] as const;

function turnBody(frame: Frame, { input, root }: Continued): Buffer {
  const texts = new Map<string, string | undefined>(SOCKET_FIELDS.map((name) => [name, undefined]));
  texts.set('stream', 'true');
  if (input !== undefined) texts.set('input', input);
  if (input !== undefined) texts.set('previous_response_id', root === undefined ? undefined : JSON.stringify(root));
  return withTexts(frame, texts);
}
