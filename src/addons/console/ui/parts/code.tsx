import { useEffect, useRef } from 'preact/hooks';
import { yamlPieces } from './yaml.ts';

/** A file with its lines numbered; lines of interest are tinted, and one is marked. */
export function Code({
  text,
  label,
  tinted = [],
  marked,
}: {
  readonly text: string;
  readonly label: string;
  readonly tinted?: readonly number[];
  readonly marked?: number | undefined;
}) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const line = box.current?.querySelector<HTMLElement>('.marked');
    // The page itself stays where it is.
    if (box.current && line) box.current.scrollTop = line.offsetTop - box.current.clientHeight / 2;
  }, [marked, text]);
  return (
    <div ref={box} class="code" tabIndex={0} role="region" aria-label={label}>
      <ol>
        {text
          .replace(/\n$/, '')
          .split('\n')
          .map((line, index) => (
            <li
              key={index}
              class={index + 1 === marked ? 'marked' : tinted.includes(index + 1) ? 'tinted' : undefined}
              aria-current={index + 1 === marked ? 'true' : undefined}
            >
              <span class="line-number">{index + 1}</span>
              <code>
                {yamlPieces(line).map(({ kind, text: piece }, at) =>
                  kind === 'plain' ? (
                    piece
                  ) : (
                    <span key={at} class={`yaml-${kind}`}>
                      {piece}
                    </span>
                  ),
                )}
              </code>
            </li>
          ))}
      </ol>
    </div>
  );
}
