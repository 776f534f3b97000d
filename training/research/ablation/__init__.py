"""What each part of training is worth, and what whole presets reach beside each other, over several seeds.

settings       the settings, and those of each run
ablating       trainings and matches, and what comes of variants
presets        what comes of presets: levels, matches head to head, and a sentence
interquartile  interquartile means and their intervals
drawing        the pictures
"""
