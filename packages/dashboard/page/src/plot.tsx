import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';

/** Calls per second, null where they were not counted; the last value ended at `end`. Times are seconds. */
export interface Series {
  readonly end: number;
  readonly step: number;
  readonly allowed: readonly (number | null)[];
  readonly denied: readonly (number | null)[];
}

const HEIGHT = 110;

/** Allowed and denied calls over time. The figures are beside it as text. */
export function Plot({ series }: { readonly series: Series }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | undefined>(undefined);
  const data = useRef<UPlot.AlignedData>([[], [], []]);
  data.current = dataOf(series);

  useEffect(() => {
    const element = box.current!;
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const draw = () => {
      plot.current?.destroy();
      plot.current = new UPlot(optionsFor(element), data.current, element);
    };
    draw();
    dark.addEventListener('change', draw);
    const resized = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width > 0 && width !== plot.current!.width) plot.current!.setSize({ width, height: HEIGHT });
    });
    resized.observe(element);
    return () => {
      dark.removeEventListener('change', draw);
      resized.disconnect();
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(data.current), [series.end, series.allowed.length]);
  return <div class="plot" ref={box} aria-hidden="true" />;
}

function dataOf({ end, step, allowed, denied }: Series): UPlot.AlignedData {
  const times = allowed.map((_, i) => end - (allowed.length - 1 - i) * step);
  return [times, [...allowed], [...denied]];
}

function optionsFor(box: HTMLElement): UPlot.Options {
  const colour = (name: string) => getComputedStyle(box).getPropertyValue(name);
  const line = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const series = { points: { show: false } };
  const font = `11px ${getComputedStyle(box).fontFamily}`;
  return {
    width: box.clientWidth || 300,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [6, 26, 0, 0],
    scales: { y: { range: (_, _min, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      { ...line, font, size: 22, space: 70, values: '{HH}:{mm}:{ss}' },
      { ...line, font, size: 34, space: 28 },
    ],
    series: [
      {},
      // A broad line below dashes: of equal numbers both are seen.
      { ...series, stroke: colour('--good'), fill: colour('--good-bg'), width: 4 },
      { ...series, stroke: colour('--bad'), width: 1.5, dash: [6, 6], cap: 'butt' },
    ],
  };
}
