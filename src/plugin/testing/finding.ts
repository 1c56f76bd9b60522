/** A rule that a plugin breaks. */
export interface PluginFinding {
  /** Name of the rule: `next-awaited`. */
  readonly rule: string;
  /** The part of the plugin: `options.ttl`, `create`, `a stream`. */
  readonly place: string;
  readonly message: string;
  readonly remedy: string;
}

/** The remedy of an author for each rule. */
const REMEDIES = {
  name: 'Write it in kebab-case: `mask-mail`.',
  level: 'Use `entry`, `request` or `attempt`.',
  provides: 'Name each once.',
  'options-closed': 'Set `additionalProperties: false`, so that a misspelt key is an error.',
  'options-described': 'Give it a `description`, which editors and error messages show.',
  'options-default': 'Correct the default, or the schema that refuses it.',
  'options-refuse': 'Give it a `type`, an `enum` or a `pattern`.',
  'options-given': 'Give options that the schema accepts: `options` of the check, or `--options FILE`.',
  create: 'Return middleware, an object with `step`, or the hooks that `reads` declares.',
  'next-once': 'Call `next()` once, or declare `repeats: true`.',
  'next-awaited': 'Write `await next()` or `return next()`.',
  'next-late': 'Call `next()` before the middleware returns.',
  replies: 'Call `next()`, set `reply`, or throw a GatewayError.',
  reply: 'Set a status from 200 to 999, headers of text without line breaks, and a Buffer or a Source as the body.',
  'reply-passes':
    'Pass every byte on with `super.push`, and call `super.end` once: a Buffer, a stream and a plain body in pieces.',
  'frozen-body': 'Use `edit` of the body, or a copy by `structuredClone`.',
  errors:
    'Throw a GatewayError, which the client gets in the form of its API. Any other error is a 500 with the name of the plugin.',
  rejections: 'Await every promise, or handle its rejection.',
  ends: 'Give every wait a limit.',
  cancellation:
    'Pass `exchange.cancellation` to `host.clock.sleep`, and its `signal` to `fetch`; do not go on after it.',
  pure: 'Leave out `pure: true`, or the call.',
  close: 'Let every task of `host.onClose` end, and succeed also when it runs again.',
  leaks: 'End it in `host.onClose`, or call `unref()`.',
  growth: 'Bound what is kept, and keep nothing of a request after its end.',
  'same-text': 'Return `keep` for what a later piece may complete, or use `replacing`.',
} as const;

export type CheckRule = keyof typeof REMEDIES;

export const finding = (rule: CheckRule, place: string, message: string): PluginFinding => ({
  rule,
  place,
  message,
  remedy: REMEDIES[rule],
});

/** `next-awaited: a stream: it did not await next(). Write ...` */
export const sentence = ({ rule, place, message, remedy }: PluginFinding): string =>
  `${rule}: ${place}: ${message}. ${remedy}`;
