/** What callers ask and what models answer, in words that both sides of the matrix know. */

export const SYSTEM = 'You are terse.';
export const CITIES = ['Oslo', 'Bergen'] as const;
export const REPORT = { city: 'Oslo', celsius: 7 };

export const weatherTool = {
  name: 'weather',
  description: 'Weather of a city',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
} as const;

export const reportSchema = {
  type: 'object',
  title: 'report',
  properties: { city: { type: 'string' }, celsius: { type: 'number' } },
  required: ['city', 'celsius'],
  additionalProperties: false,
} as const;

/** One pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const sawImage = (mime: string, base64: string): string =>
  `I see ${mime} of ${Buffer.from(base64, 'base64').length} bytes.`;
export const heard = (question: string, system = SYSTEM): string => `Heard: ${question} (${system})`;
export const rain = (city: string): string => `rain in ${city}`;
/** The tools' results as the model has seen them, in the order of its calls. */
export const quoted = (results: readonly string[]): string => `It said: ${results.join('; ')}.`;
/** The model says this only where its own thought came back with its signature. */
export const RECALLED = ' I recall my thought.';
export const thoughtOf = (question: string): string => `Hm, ${question}`;

export const USAGE = { input: 11, output: 7, thought: 5 } as const;
