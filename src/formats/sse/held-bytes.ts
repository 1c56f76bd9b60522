import type { UpstreamFailure } from '../events.ts';

/** Largest incomplete event that is held. An image arrives as one event: base64 of up to 12 MiB fits. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024;

export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge';

  toFailure(): UpstreamFailure {
    return { status: 502, message: this.message, kind: 'reply_too_large' };
  }
}

export const NOTHING = Buffer.alloc(0);
/** Capacity of the first buffer, and the largest buffer that is kept when its event leaves. */
const LEAST_ROOM = 256;
const MOST_KEPT_ROOM = 64 * 1024;

/**
 * Bytes that wait for the end of their event. One buffer, doubled when it is full, holds them: a read of one byte costs
 * little more than its copy, and a large event in small reads does not cost the square of its size.
 */
export class ByteBuffer {
  #room: Buffer = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds the bytes from index `from` on. */
  add(bytes: Buffer, from: number): void {
    const length = this.#length + bytes.length - from;
    if (length > MAX_EVENT_BYTES) throw new EventTooLarge(`an event of the reply exceeds ${MAX_EVENT_BYTES} bytes`);
    if (length > this.#room.length) this.#grow(length);
    if (bytes.length === 1) this.#room[this.#length] = bytes[0]!;
    else bytes.copy(this.#room, this.#length, from);
    this.#length = length;
  }

  /** Returns all held bytes and the bytes before index `to`, and empties the buffer. */
  take(bytes: Buffer = NOTHING, to = bytes.length): Buffer {
    const head = to === bytes.length ? bytes : bytes.subarray(0, to);
    const whole = this.#length === 0 ? head : Buffer.concat([this.#room.subarray(0, this.#length), head]);
    this.#length = 0;
    if (this.#room.length > MOST_KEPT_ROOM) this.#room = NOTHING;
    return whole;
  }

  /** The byte at `index`, where `bytes` begins at 0 and the last held byte is at -1. */
  at(index: number, bytes: Buffer): number | undefined {
    if (index >= 0) return bytes[index];
    return this.#length + index >= 0 ? this.#room[this.#length + index] : undefined;
  }

  #grow(least: number): void {
    const room = Buffer.allocUnsafe(Math.min(MAX_EVENT_BYTES, Math.max(LEAST_ROOM, least * 2)));
    this.#room.copy(room, 0, 0, this.#length);
    this.#room = room;
  }
}
