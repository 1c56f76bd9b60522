import { MAX_CHOICES, TOO_MANY_CHOICES, type GenerationEvent } from '../events.ts';
import { ReplyFault, type ReplyContext } from '../format.ts';
import { ChoiceReader } from './decode-choice.ts';
import { failureOfEvent } from './errors.ts';
import { decodeEnvelope } from './envelope.ts';
import { usageEvent } from './usage.ts';
import { isObject } from '../json/object.ts';

/**
 * Decodes a plain 2xx reply. A 200 that holds an error (OpenRouter, proxies; Google in an array) becomes that error.
 */
export function decodeReply(body: unknown, reply: ReplyContext): readonly GenerationEvent[] {
  const error = failureOfEvent(undefined, body);
  if (error) return [{ type: 'error', failure: error }];
  if (!isObject(body) || !Array.isArray(body.choices)) throw new ReplyFault('The reply is not a chat completion.');
  if (body.choices.length === 0) throw new ReplyFault('The reply has no choices.');
  if (body.choices.length > MAX_CHOICES) throw new ReplyFault(`The reply cannot be read: ${TOO_MANY_CHOICES}.`);
  const events: GenerationEvent[] = [decodeEnvelope(body)];
  const readers = body.choices.map((choice: unknown, at) => readChoice(choice, at, { reply, events }));
  const usage = usageEvent(body.usage);
  if (usage) events.push(usage);
  for (const reader of readers) reader.close(events);
  events.push({ type: 'end' });
  return events;
}

function readChoice(choice: unknown, at: number, to: { reply: ReplyContext; events: GenerationEvent[] }): ChoiceReader {
  if (!isObject(choice) || !isObject(choice.message))
    throw new ReplyFault(`choices[${at}] of the reply has no message.`);
  const reader = new ChoiceReader(typeof choice.index === 'number' ? choice.index : at, to.reply);
  reader.read(choice, to.events);
  const fault = reader.fault();
  if (fault) throw new ReplyFault(fault);
  return reader;
}
