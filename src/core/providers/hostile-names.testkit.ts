/** Model names that must never reach an upstream. */
export const HOSTILE_NAMES: readonly string[] = [
  '',
  '.',
  '../x',
  'x/../../y',
  '/../',
  'a/b',
  'a\\b',
  'a?alt=json',
  'a#b',
  'a..b',
  'a\nb',
  'a\u0000b',
  'a\u0085b',
  'a\u007fb',
  '\ud800',
  'x'.repeat(257),
];

/** Those that may not stand in a body either. The others have characters that only a path gives a meaning. */
export const HOSTILE_IN_BODY = HOSTILE_NAMES.filter((name) => name !== 'a/b' && name !== 'a#b');
