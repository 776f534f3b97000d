from .drawing import draw_game as draw_game, draw_svg as draw_svg, gif_of as gif_of, png_of as png_of
