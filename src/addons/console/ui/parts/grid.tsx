import type { ComponentChildren } from 'preact';

interface GridProps {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  /** For screen readers only. */
  readonly hidden?: boolean;
}

/** A table of few rows. */
export const Grid = ({ label, head, rows, hidden = false }: GridProps) => (
  <div class={hidden ? 'hidden' : 'scroll'} tabIndex={hidden ? undefined : 0} role="region" aria-label={label}>
    <table>
      <thead>
        <tr>
          {head.map((title, at) => (
            <th key={at} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, index) => (
              <td key={index} data-head={head[index]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
