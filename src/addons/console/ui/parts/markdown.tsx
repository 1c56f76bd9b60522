import { lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren } from 'preact';

/** Markdown as elements, from the tokens of its lexer: no text becomes HTML, and no image or link of a model is loaded. */
export const Markdown = ({ text }: { readonly text: string }) => <div class="markdown">{lexer(text).map(block)}</div>;

const children = (token: Token): ComponentChildren =>
  'tokens' in token && token.tokens ? token.tokens.map(inline) : plainText(token);

const plainText = (token: Token): string =>
  'text' in token && typeof token.text === 'string' ? token.text : token.raw;

function block(token: Token, index: number): ComponentChildren {
  switch (token.type) {
    case 'heading':
      return (
        <p key={index} class="strong">
          {children(token)}
        </p>
      );
    case 'paragraph':
    case 'text':
      return <p key={index}>{children(token)}</p>;
    case 'code':
      return (
        <pre key={index} class="card scroll" tabIndex={0}>
          {plainText(token)}
        </pre>
      );
    case 'blockquote':
      return <blockquote key={index}>{(token.tokens ?? []).map(block)}</blockquote>;
    case 'list':
      return listOf(token as Tokens.List, index);
    case 'space':
      return null;
    default:
      return <p key={index}>{token.raw}</p>;
  }
}

function listOf({ items, ordered }: Tokens.List, index: number): ComponentChildren {
  const content = items.map((item, at) => <li key={at}>{item.tokens.map(block)}</li>);
  return ordered ? <ol key={index}>{content}</ol> : <ul key={index}>{content}</ul>;
}

function inline(token: Token, index: number): ComponentChildren {
  switch (token.type) {
    case 'strong':
      return <strong key={index}>{children(token)}</strong>;
    case 'em':
      return <em key={index}>{children(token)}</em>;
    case 'codespan':
      return <code key={index}>{plainText(token)}</code>;
    case 'br':
      return <br key={index} />;
    case 'link':
      return (
        <span key={index}>
          {children(token)} ({(token as Tokens.Link).href})
        </span>
      );
    case 'text':
    case 'escape':
      return children(token);
    default:
      return token.raw;
  }
}
