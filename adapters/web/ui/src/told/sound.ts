/** Two short tones, made here: no file is loaded. */

/** Must follow a click at some time, or browsers stay silent; that is no error. */
export const beep = (): void => {
  const context = new AudioContext();
  const gain = context.createGain();
  gain.gain.setValueAtTime(0.06, context.currentTime);
  gain.connect(context.destination);
  [660, 880].forEach((frequency, index) => {
    const tone = context.createOscillator();
    tone.frequency.value = frequency;
    tone.connect(gain);
    tone.start(context.currentTime + index * 0.14);
    tone.stop(context.currentTime + index * 0.14 + 0.12);
    if (index === 1) tone.onended = () => void context.close();
  });
};
