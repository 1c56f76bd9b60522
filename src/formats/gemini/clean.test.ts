import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import type { RequestTarget } from '../request-target.ts';
import { requestTarget } from '../contexts.testkit.ts';
import { clean } from './clean.ts';

function cleaned(body: JsonObject, target: Partial<RequestTarget>) {
  const view = {
    has: (key: string) => Object.hasOwn(body, key),
    value: (key: string) => body[key],
    contains: (text: string) => JSON.stringify(body).includes(text),
    mayMatch: () => true,
  };
  const { edits, losses } = clean(view, { ...requestTarget({ host: 'vertex' }), ...target }) ?? {
    edits: [],
    losses: [],
  };
  return [edits.map(({ path, value }) => [path.join('.'), value]), losses.map(({ param }) => param)];
}

describe('a body for Gemini of a Gemini client', () => {
  const labels = { Team: 'Search' };

  it.each<[string, JsonObject, Partial<RequestTarget>, unknown[], string[]]>([
    ['gets the labels of the metadata', {}, { labels }, [['labels', { team: 'search' }]], []],
    [
      'keeps the labels of the caller',
      { labels: { team: 'ads', own: 'x' } },
      { labels },
      [['labels', { team: 'ads', own: 'x' }]],
      [],
    ],
    [
      'loses the labels of the caller that the key sets',
      { labels: { team: 'ads' } },
      { labels, boundLabels: new Set(['Team']) },
      [['labels', { team: 'search' }]],
      ['labels.team'],
    ],
    ['is unchanged without metadata', { labels: { team: 'ads' } }, { labels: {} }, [], []],
    ['is unchanged where the host has no labels', {}, { labels, host: 'direct' }, [], []],
    [
      'has the registered type of a picture',
      { contents: [{ parts: [{ inlineData: { mimeType: 'image/jpg', data: 'AA==' } }] }] },
      {},
      [['contents', [{ parts: [{ inlineData: { mimeType: 'image/jpeg', data: 'AA==' } }] }]]],
      [],
    ],
    ['is unchanged where Vertex AI refuses it', { labels: 'team' }, { labels }, [], []],
  ])('%s', (_, body, target, edits, lost) => {
    expect(cleaned(body, target)).toEqual([edits, lost]);
  });
});
