import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUpstreamError } from './upstream-error.ts';
import { withoutPage } from './shown-message.ts';

const NGINX =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n';
const CLOUDFLARE =
  '<!DOCTYPE html>\n<!--[if lt IE 7]> <html class="no-js ie6"> <![endif]-->\n<html lang="en-US"><head>\n<title>api.example.com | 520: Web server is returning an unknown error</title>';
const GOOGLE =
  '<!DOCTYPE html>\n<html lang=en>\n  <meta charset=utf-8>\n  <title>Error 404 (Not Found)!!1</title>\n  <style>\n    *{margin:0;padding:0}html,code{font:15px/22px arial}';
const ELB = '<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n<body></body></html>';

describe('a web page in place of an error', () => {
  it.each([
    ['nginx', NGINX, '502 Bad Gateway'],
    ['Cloudflare', CLOUDFLARE, 'api.example.com | 520: Web server is returning an unknown error'],
    ['Google’s front end', GOOGLE, 'Error 404 (Not Found)!!1'],
    ['AWS', ELB, '503 Service Temporarily Unavailable'],
    [
      'no title',
      '<!doctype html><h1>Just a moment…</h1><p>Checking &amp; waiting</p>',
      'Just a moment… Checking & waiting',
    ],
    ['an empty title', '<html><title> </title><body><b>Down</b> for&nbsp;now</body>', 'Down for now'],
    [
      'scripts and styles',
      '<html><style>a{b:c}</style><script>if (a<b) c()</script><!-- x --><p>Busy</p></html>',
      'Busy',
    ],
    ['a style that is cut', '<html><style>a{b:c} d{', 'a web page without text'],
    ['a title that is cut', '<html><head><title>Bad Gate', 'Bad Gate'],
    ['a tag that is cut', '<html><p>Busy</p><div class="a', 'Busy'],
    ['words before it', 'Error code: 502 - <html><title>502 Bad Gateway</title>', 'Error code: 502 - 502 Bad Gateway'],
    ['long words', `<html>${'é'.repeat(2000)}`, 'é'.repeat(200)],
  ])('is its title or its first words: %s', (_, text, words) => {
    expect(withoutPage(text)).toBe(words);
    expect(toUpstreamError({ status: 503, message: text }).message).toBe(words);
  });

  it.each(['Busy.', 'a < b and c > d', 'Use <name> as the name', '<tool_call> is missing', '{"html": 1}', ''])(
    'is none, and the text stays: %j',
    (text) => expect(withoutPage(text)).toBe(text),
  );

  it('is kept whole in the report for the operator, and has the code of its words', () => {
    const error = toUpstreamError({ status: 502, message: NGINX });
    expect(error.upstreamReport?.message).toBe(NGINX);
  });

  it('never becomes a tag again, and has a bound', () => {
    const pieces = fc.constantFrom(
      '<',
      '>',
      '<script',
      '</script>',
      '<!--',
      '-->',
      '<title>',
      '&lt;',
      'a',
      ' ',
      '<html>',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const words = withoutPage(`<html>${parts.join('')}`);
        expect(words).not.toMatch(/<[a-z!/][^<>]*>/i);
        expect(words.length).toBeLessThanOrEqual(401);
        expect(words).not.toBe('');
      }),
    );
  });

  it.each(['<', '<script', '<!--', '<title', ' ', '</script'])('costs no more than its bytes: %j', (piece) => {
    expect(withoutPage(`<html>${piece.repeat(200_000)}`).length).toBeLessThanOrEqual(401);
  });
});
