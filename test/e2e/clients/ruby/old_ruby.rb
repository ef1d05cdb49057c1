# What the client takes from Ruby 2 and Ruby 3 does not have: the client itself
# stays as it is.

require 'uri'

unless URI.respond_to?(:encode)
  def URI.encode(text) = URI::DEFAULT_PARSER.escape(text)
end
